package severity

import "ompp-attach/profile"

// The trees of what waits were made of (--sched). Package profile, Sched, has what they count.
const (
	Made     = "sched"         // the threads' own waits
	MadeDue  = "sched_due"     // waits for latecomers
	MadeHeld = "sched_held"    // waits for the holders of locks
	Foreign  = "sched_foreign" // the part of Made in which other processes had the core
	Moves    = "sched_moves"
)

// Suffixes of the IDs of a wait's parts: what the thread was doing in that part.
const (
	onCore    = ".on_core"
	asleep    = ".asleep"
	preempted = ".preempted"
	wokenLate = ".woken_late"
)

// waitKinds are the waits in the order of profile.Sched.Parts.
var waitKinds = [...]Property{
	{ID: Made + ".barrier", Parent: Made, Name: "At barriers, until the last thread came"},
	{ID: Made + ".completion", Parent: Made, Name: "At barriers, from then on"},
	{ID: Made + ".lock", Parent: Made, Name: "Before critical sections and locks"},
	{ID: Made + ".tasks", Parent: Made, Name: "For tasks"},
	{ID: Made + ".mpi", Parent: Made, Name: "In MPI calls"},
	{ID: MadeDue, Name: "Waits for a latecomer, by what the latecomer did"},
	{ID: MadeHeld, Name: "Waits for a lock, by what the holder did"},
}

// schedTrees returns the properties that --sched brings.
func schedTrees() (out []Property) {
	out = append(out, Property{ID: Made, Name: "Waits, by what they were made of", Unit: Seconds, Source: own,
		Description: "The threads' waits that the scheduler's events divide. They include time without a core, and the time of probes.",
		Formula:     "Sum of the properties below."})
	for _, k := range waitKinds {
		k.Unit, k.Source = Seconds, own
		k.Description, k.Formula = "The part of the waits.", "Sum of the properties below."
		spins := "The thread had a core: it was spinning, or worked for the runtime."
		if k.Parent == "" {
			k.Description = "Others' waits for this thread, by how long it was off its core meanwhile. They are no part of its own time."
			k.Formula = "sum of the others' waits"
			spins = "The thread had a core: it had more to compute."
		}
		out = append(out, k)
		for _, s := range []Property{
			{ID: onCore, Name: "On a core", Description: spins, Formula: "the rest"},
			{ID: asleep, Name: "Asleep", Description: "The thread had given its core up, until it was woken.", Formula: "sched_waking - sched_switch"},
			{ID: preempted, Name: "Preempted", Description: "The thread lost its core, or yielded it, and was ready to run all the time.",
				Formula: "sched_switch to the thread - sched_switch from the thread"},
			{ID: wokenLate, Name: "Woken late", Description: "The thread had been woken, and had no core yet.", Formula: "sched_switch to the thread - sched_waking"},
		} {
			s.ID, s.Parent, s.Unit, s.Source = k.ID+s.ID, k.ID, Seconds, own
			if k.Parent == "" && s.ID != k.ID+onCore {
				s.Formula = "the same of the late thread - of the waiting one, since they were last together"
				if k.ID == MadeHeld {
					s.Formula = "the same of the holder, while the other thread waited"
				}
			}
			out = append(out, s)
		}
	}
	return append(out,
		Property{ID: Foreign, Name: "Waits without a core because of other processes", Unit: Seconds, Source: own,
			Description: "The part of Preempted and Woken late in which other processes are known to have had the core.",
			Formula:     "time of their turns on the core while the thread was in its queue"},
		Property{ID: Moves, Name: "Moves to other cores in waits", Unit: Count, Source: own,
			Description: "How often a thread was moved to another core while it was off its core in a wait.", Formula: "sched_migrate_task"})
}

// madeOf adds what a thread's waits at a node were made of.
func madeOf(add func(string, int64), s *profile.Sched) {
	if s == nil {
		return
	}
	for i, p := range s.Parts() {
		id := waitKinds[i].ID
		add(id+onCore, max(0, p.OnCore()))
		add(id+asleep, p.Asleep)
		add(id+preempted, p.Preempted)
		add(id+wokenLate, p.Late)
		if waitKinds[i].Parent == Made {
			add(Foreign, p.Foreign)
			add(Moves, int64(p.Moves))
		}
	}
}
