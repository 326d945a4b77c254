package event

import (
	"fmt"
	"strconv"
	"strings"
)

// The functions of libraries' levels are user regions. But --max-overhead removes and places the
// probes of each kind of levels by themselves. So a set of constructs has elements for these kinds,
// beside the one for all other user regions. They lie behind those of the constructs.

// LevelKinds is the number of kinds of levels that a set of constructs can tell apart.
const LevelKinds = 16

// firstKind is the set's element for the first kind of levels. The array's length below is negative
// if there are more constructs than elements are left.
const firstKind = 64 - LevelKinds

var _ [firstKind - numConstructs]struct{}

// The Fn of an event of a level's function is levelFn, the function's kind of levels from kindShift
// on, and the function's number.
const (
	levelFn   = 1 << 63
	kindShift = 32
)

// LevelFn returns the Fn of the events of a level's function. kind is from 1 to LevelKinds; 0: the
// function goes with all other user regions, as in older recorded streams.
func LevelFn(kind, number int) uint64 {
	return levelFn | uint64(kind)<<kindShift | uint64(uint32(number))
}

// LevelFunction returns the number of the level's function that a user region's Fn names. ok is
// false if the Fn names none.
func LevelFunction(fn uint64) (number int, ok bool) {
	return int(uint32(fn)), fn&levelFn != 0
}

// Element returns the element of a set of constructs that stands for a construct with an Fn: the
// construct, or a kind of levels.
func Element(c Construct, fn uint64) Construct {
	if c != UserRegion || fn&levelFn == 0 {
		return c
	}
	if kind := fn &^ levelFn >> kindShift; kind > 0 && kind <= LevelKinds {
		return firstKind + Construct(kind-1)
	}
	return c
}

// Element returns the element of a set of constructs that stands for the event's construct.
func (ev *Event) Element() Construct { return Element(ev.Construct, ev.Fn) }

// LevelKind returns the kind of levels that a set consists of, from 1; 0: the set is another one.
func (s Constructs) LevelKind() int {
	for kind := 1; kind <= LevelKinds; kind++ {
		if s == 1<<(firstKind+kind-1) {
			return kind
		}
	}
	return 0
}

// kindName begins the names of the kinds of levels in recorded files.
const kindName = "LEVELS "

// kindNames appends the names of the set's kinds of levels.
func (s Constructs) kindNames(names []string) []string {
	for kind := 1; kind <= LevelKinds; kind++ {
		if s.Has(firstKind + Construct(kind-1)) {
			names = append(names, fmt.Sprint(kindName, kind))
		}
	}
	return names
}

// parseKind is the inverse of kindNames; ok is false for a name of no kind.
func parseKind(name string) (c Construct, ok bool) {
	number, ok := strings.CutPrefix(name, kindName)
	kind, err := strconv.Atoi(number)
	if !ok || err != nil || kind < 1 || kind > LevelKinds || number != strconv.Itoa(kind) {
		return NoConstruct, false
	}
	return firstKind + Construct(kind-1), true
}
