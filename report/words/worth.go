package words

// LeastShare is the smallest share of all thread time at which a region's overhead is shown. A
// smaller share prints as 0.0%.
const LeastShare = 0.0005

// FewCore is a share of time with a core. If threads had a core for less, a finding says so: the
// cause may be the machine, not the program.
const FewCore = 0.9
