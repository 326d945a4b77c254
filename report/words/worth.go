package words

// LeastShare is the smallest share of all thread time at which a region's overhead is shown. A
// smaller share prints as 0.0%.
const LeastShare = 0.0005
