package symbols

import "strings"

// Producers returns the notes of the compilers in the object's .comment section, e.g. "GCC: (Debian
// 12.2.0-14) 12.2.0". Distributions often remove the section from libraries.
func (o *Object) Producers() []string {
	s := o.file.Section(".comment")
	if s == nil {
		return nil
	}
	b, err := s.Data()
	if err != nil {
		return nil
	}
	return strings.FieldsFunc(string(b), func(r rune) bool { return r == 0 })
}

// DefinedVersions returns the symbol versions that a library defines, in the order of the file:
// from the oldest to the newest.
func (o *Object) DefinedVersions() (names []string) {
	vs, err := o.file.DynamicVersions()
	if err != nil {
		return nil
	}
	for _, v := range vs {
		names = append(names, v.Name)
	}
	return names
}
