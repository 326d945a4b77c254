package severity

import "slices"

// Unit is the unit of a property's values.
type Unit string

// The units.
const (
	Seconds Unit = "sec" // values are in ns
	Count   Unit = "occ"
	Bytes   Unit = "bytes"
)

// Gain is the rule by which the most that mending a property saves is found.
type Gain uint8

// The rules. See Cube.Findings.
const (
	// NoGain: the property is no loss, or it is not known how much mending it saves.
	NoGain Gain = iota
	// Balance: threads wait for the last one of their team. If all had the same work, the wait
	// would be shared by the whole team.
	Balance
	// Spread: threads are idle. If all worked, the time would be shared by all.
	Spread
	// Absence: threads are idle while one of them is in a call. Without the call, its time goes.
	Absence
	// Sharing: one thread works. If all shared the work, they would take the n-th part.
	Sharing
	// Removal: at most, all of the time goes away.
	Removal
)

// Property is a node in the tree of properties.
type Property struct {
	ID     string // in files; never changes
	Parent string // ID of the more general property; empty: a root
	Name   string // for readers
	OmpP   string // the name of the property in ompP and in other reports; empty: there is none
	Unit   Unit
	// Description says what the value is. Formula says by which rule it is found. Diagnosis
	// says how to find the cause, and Helps what to do about it. Diagnosis and Helps are empty
	// if the property is no loss.
	Description, Formula, Diagnosis, Helps string
	Source                                 string // where the property is defined
	Gain                                   Gain
	// Reported: the property is a finding of its own. More special properties below it that are
	// not reported count with it.
	Reported bool
}

// Title is the name of a property in findings: ompP's, if there is one.
func (p *Property) Title() string {
	if p.OmpP != "" {
		return p.OmpP
	}
	return p.Name
}

// Catalogue returns all properties that do not depend on the profile. A parent precedes its
// children.
func Catalogue() []Property {
	return slices.Concat(general, withParts(openMP), withRanks(mpiTimes), others, causeTrees, schedTrees(), rankTrees, pathTrees())
}
