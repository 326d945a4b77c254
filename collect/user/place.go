package user

import (
	"ompp-attach/symbols"
)

// Place is what reports show of a user region.
type Place struct {
	Name  string
	Notes []string
	Lines *symbols.Extent // of a region given by lines; else nil
	Near  bool            // it begins at another line than the one given
}

// InlinedNote returns a note if some calls of a function are inlined, so that its own code does not
// see them.
func InlinedNote(o *symbols.Object, vaddr uint64) []string {
	symbol, _, ok := o.FuncAt(vaddr)
	if !ok {
		return nil
	}
	names := symbols.FunctionNames(symbol)
	n := o.Inlined()[names[len(names)-1]]
	if n == 0 {
		return nil
	}
	return []string{"the compiler inlined some calls of this function: those are not counted"}
}

// At returns what is known of a region of the file o. identity is the address that stands for the
// region: its function, its first marker, or the first instruction of its lines.
func (u *Regions) At(o *symbols.Object, identity uint64) Place {
	if u == nil {
		return Place{}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.places[o][identity]
}
