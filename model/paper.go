package model

// Serial is the time of a loop that one thread executes, by the factors of Eq. 2.
type Serial struct {
	Machine  float64 // arithmetic, branches and calls
	Overhead float64 // of the loop itself
	Cache    float64 // cache misses
}

// Time returns Eq. 2: t_serial = t_machine + t_overhead + t_cache.
func (s Serial) Time() float64 { return s.Machine + s.Overhead + s.Cache }

// Loop is a parallel loop, or all parallel loops of a program.
type Loop struct {
	Serial     float64 // t_serial: the time of one thread, outside of all overheads
	Unparallel float64 // sum of t_unpar: wall time of code that only one thread can execute
	Overhead   float64 // sum of O: wall time of the constructs' overheads
	Threads    int     // n_t
}

// Parallel returns Eq. 3: t_par = t_serial/n_t + t_unpar + O. It is wall time.
func (l Loop) Parallel() float64 {
	return l.Serial/float64(l.Threads) + l.Unparallel + l.Overhead
}

// Efficiency returns Eq. 5: e_mt by the estimated t_par of Eq. 3, from 0 to 1.
func (l Loop) Efficiency() float64 {
	return Multithreading(l.Serial, l.Threads, l.Parallel())
}

// Speedup returns t_serial/t_par.
func (l Loop) Speedup() float64 { return float64(l.Threads) * l.Efficiency() }

// Multithreading returns Eq. 4: e_mt = t_serial / (n_t t_par), with measured times. It is 0 if no
// time passed. Caches can make it larger than 1.
func Multithreading(serial float64, threads int, parallel float64) float64 {
	return ratio(serial, float64(threads)*parallel)
}

// Communication holds the two sums of Eq. 1: communication time summed over all processes and their
// communicating threads.
type Communication struct {
	Hybrid float64 // of the hybrid program, p processes of n_t threads, m_t of which communicate
	Pure   float64 // of the program with n_t p processes of one thread
}

// Efficiency returns Eq. 1: e_mp, the hybrid program's sum over the pure MPI program's. Above 1 the
// hybrid program communicates for longer, so it is not to be shown without the sums and the Gain.
func (c Communication) Efficiency() float64 { return ratio(c.Hybrid, c.Pure) }

// Gain returns the inverse of Eq. 1. Above 1 the hybrid program communicates for less time.
func (c Communication) Gain() float64 { return ratio(c.Pure, c.Hybrid) }

// Error returns |estimated - real| / real, the error in the paper's Table 3. Its Table 2 has the
// larger of the two values as denominator.
func Error(estimated, real float64) float64 {
	d := ratio(estimated-real, real)
	return max(d, -d)
}

// ratio returns part/whole, and 0 if the whole is 0.
func ratio(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}
