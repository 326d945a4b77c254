package efficiency

// Metric is an efficiency of POP's trees, and the metrics that it consists of.
type Metric struct {
	Key   string // in JSON: "mpi_load_balance"
	Name  string
	Value float64
	// Region is the number of the region that lowers the metric most, if no metrics stand below the
	// metric; 0: no region does.
	Region int
	Of     []Metric
}

// Walk calls visit for a metric and for all below it, with their depth.
func (m *Metric) Walk(visit func(m *Metric, depth int)) { m.walk(visit, 0) }

func (m *Metric) walk(visit func(m *Metric, depth int), depth int) {
	visit(m, depth)
	for i := range m.Of {
		m.Of[i].walk(visit, depth+1)
	}
}

// totals are the quantities that POP's metrics are made of, ns.
type totals struct {
	runtime           float64
	useful, maxUseful float64 // mean of all threads; maximum over threads
	outMPI, maxOutMPI float64 // mean of the primary threads; maximum over them
	// Times of initial threads, weighted by their threads: in regions; outside, without MPI.
	parallel, serial       float64
	usefulIn, usefulSerial float64 // mean of all threads: in regions, outside
	// unknown is the time in regions of which it is not known what threads did: mean of all
	// threads.
	unknown    float64
	maxProcess float64 // maximum over processes of parallel + serial
}

func (r *Run) totals() totals {
	t := totals{runtime: float64(r.Runtime)}
	whole := r.Whole()
	threads := quotient(float64(whole.Sum()), t.runtime) // mean number of living threads
	for i := range r.Processes {
		p := &r.Processes[i]
		t.useful += quotient(float64(p.Parts.Useful()), threads)
		t.usefulIn += quotient(float64(p.Parts[Work]), threads)
		t.usefulSerial += quotient(float64(p.Parts[Serial]), threads)
		t.maxUseful = max(t.maxUseful, float64(p.MaxUseful))
		t.outMPI += float64(p.OutMPI) / float64(len(r.Processes))
		t.maxOutMPI = max(t.maxOutMPI, float64(p.OutMPI))
		t.parallel += quotient(float64(p.InTeams), threads)
		t.serial += quotient(float64(p.InSerial), threads)
		t.unknown += quotient(float64(p.UnknownIn), threads)
		t.maxProcess = max(t.maxProcess, quotient(float64(p.InTeams+p.InSerial), p.living()))
	}
	return t
}

// Multiplicative returns POP's hybrid multiplicative tree (co-design.pop-coe.eu, hybrid metrics). A
// metric is the product of the metrics below it. The first metric has two ways down, and is the
// product of either. MPI's transfer and serialisation efficiency need a replay of a timeline and
// are left out; computation scaling needs a second run. OpenMP's metrics are quotients and can
// exceed 1.
func (r *Run) Multiplicative() Metric {
	t := r.totals()
	hpe, mpi := quotient(t.useful, t.runtime), quotient(t.outMPI, t.runtime)
	balance, mpiBalance := quotient(t.useful, t.maxUseful), quotient(t.outMPI, t.maxOutMPI)
	comm, mpiComm := quotient(t.maxUseful, t.runtime), quotient(t.maxOutMPI, t.runtime)
	call := r.number(SerialMPI, MPI)
	m := Metric{"hybrid_parallel", r.named("Hybrid parallel efficiency", "Parallel efficiency"), hpe, 0, []Metric{
		{"hybrid_load_balance", r.named("Hybrid load balance", "Load balance"), balance, r.number(Imbal, Limpar), nil},
		{"hybrid_communication", r.named("Hybrid communication efficiency", "Useful time of the busiest thread"), comm, r.number(Synch, Mgmt, SerialMPI, MPI, NoCore), nil},
	}}
	if r.UsesMPI() {
		m.Of = append(m.Of, Metric{"mpi_parallel", "MPI parallel efficiency", mpi, 0, []Metric{
			{"mpi_load_balance", "MPI load balance", mpiBalance, call, nil},
			{"mpi_communication", "MPI communication efficiency", mpiComm, call, nil},
		}})
		m.Of = append(m.Of, Metric{"omp_parallel", "OpenMP parallel efficiency", quotient(hpe, mpi), 0, []Metric{
			{"omp_load_balance", "OpenMP load balance", quotient(balance, mpiBalance), r.number(Imbal, Limpar), nil},
			{"omp_communication", "OpenMP communication efficiency", quotient(comm, mpiComm), r.number(Synch, Mgmt, TeamIdle), nil},
		}})
	}
	return m
}

// named returns a metric's name: POP's of a run with MPI, or another one. Without MPI nothing is
// hybrid, and no thread communicates.
func (r *Run) named(pop, plain string) string {
	if r.UsesMPI() {
		return pop
	}
	return plain
}

// Additive returns POP's hybrid additive tree. In this tree, the loss of a metric is the sum of the
// losses of the metrics below it. A process weighs as much as it has threads. OpenMP's loss is
// divided by its causes, the parts of the time in parallel regions.
func (r *Run) Additive() Metric {
	t := r.totals()
	whole := t.runtime * float64(r.Threads())
	all := r.Whole()
	process := quotient(t.parallel+t.serial, t.runtime)
	thread := 1 - quotient(t.parallel+t.serial-t.useful, t.runtime)
	omp := 1 - quotient(t.parallel-t.usefulIn, t.runtime)
	m := Metric{"hybrid_parallel", r.named("Hybrid parallel efficiency", "Parallel efficiency"), quotient(t.useful, t.runtime), 0, nil}
	if r.UsesMPI() || len(r.Processes) > 1 {
		call := r.number(SerialMPI)
		m.Of = append(m.Of, Metric{"process", "Process efficiency", process, 0, []Metric{
			{"process_load_balance", "Process load balance", 1 - quotient(t.maxProcess-t.parallel-t.serial, t.runtime), call, nil},
			{"process_communication", "Process communication efficiency", quotient(t.maxProcess, t.runtime), call, nil},
		}})
	}
	inRegions := Metric{"omp_parallel", "OpenMP region efficiency", omp, 0, nil}
	rest := 1 - omp
	if lost := quotient(t.unknown, t.runtime); lost > 0 {
		rest -= lost
		inRegions.Of = append(inRegions.Of, Metric{"omp_" + Unknown.Key(), Unknown.String(), 1 - lost, 0, nil})
	}
	for _, part := range []Part{Synch, Imbal, Limpar, Mgmt, MPI, TeamIdle} {
		lost := quotient(float64(all[part]), whole)
		rest -= lost
		if all[part] > 0 {
			inRegions.Of = append(inRegions.Of, Metric{"omp_" + part.Key(), part.String(), 1 - lost, r.number(part), nil})
		}
	}
	if rest*whole > 1 { // more than rounding
		inRegions.Of = append(inRegions.Of, Metric{"omp_no_core", "no core in parallel regions", 1 - rest, r.coreless(), nil})
	}
	m.Of = append(m.Of, Metric{"thread", "Thread efficiency", thread, 0, []Metric{
		inRegions,
		{"serial_region", "Serial region efficiency", 1 - quotient(t.serial-t.usefulSerial, t.runtime), 0, nil},
	}})
	return m
}

// coreless returns the number of the region that by itself lacked cores most in parallel regions.
// It returns 0 if none did.
func (r *Run) coreless() int {
	most, number := int64(0), 0
	for i := range r.Regions {
		if x := &r.Regions[i]; x.CorelessIn > most {
			most, number = x.CorelessIn, x.Number
		}
	}
	return number
}

// number returns the number of the region that takes most of the parts; 0: none does.
func (r *Run) number(parts ...Part) int {
	var most int64
	number := 0
	for _, p := range parts {
		if region, t := r.Most(p); t > most {
			most, number = t, region.Number
		}
	}
	return number
}
