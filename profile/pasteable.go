package profile

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Pasteable makes text harmless to a terminal and to JSON. Some words hold bytes that are not
// UTF-8, or characters that do not print. Such a word becomes one that a shell reads as the same
// name, for example src/$'l\366ser.c', so that a user can copy and paste it. Blanks separate words.
// In a path, only the elements that need quotes get them.
func Pasteable(text string) string {
	if prints(text) {
		return text
	}
	var b strings.Builder
	for text != "" {
		n := strings.IndexAny(text, " /") + 1
		if n == 0 {
			n = len(text)
		}
		b.WriteString(pasteableWord(text[:n]))
		text = text[n:]
	}
	return b.String()
}

// pasteableWord quotes the name in a word. Brackets, quotes and punctuation around the name stay
// outside.
func pasteableWord(w string) string {
	if prints(w) {
		return w
	}
	name := strings.TrimLeft(w, "([{\"'`")
	before := w[:len(w)-len(name)]
	name = strings.TrimRight(name, " /)]}\"'`,;:.")
	return before + quoted(name) + w[len(before)+len(name):]
}

// PasteableName returns a single name in the form that a shell takes. It also quotes a name that
// holds blanks or characters with a meaning for shells.
func PasteableName(name string) string {
	switch {
	case !prints(name):
		return quoted(name)
	case name == "" || strings.ContainsAny(name, " !\"#$&'()*;<>?[\\]`{|}~"):
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return name
}

func prints(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// quoted puts a word into quotes that bash, ksh, zsh and POSIX.1-2024 understand. Octal digits
// write a byte, because some of these shells read any number of hexadecimal digits behind \x.
func quoted(s string) string {
	var b strings.Builder
	b.WriteString("$'")
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == '\'' || r == '\\':
			b.WriteString(`\` + s[:n])
		case r == utf8.RuneError && n == 1 || !unicode.IsPrint(r):
			for _, c := range []byte(s[:n]) {
				b.WriteString(`\` + string([]byte{'0' + c>>6, '0' + c>>3&7, '0' + c&7}))
			}
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String() + "'"
}

// recordable returns a copy of a profile whose names are valid in JSON: the names of the program,
// and of files, functions and regions.
func recordable(p *Profile) *Profile {
	out := *p
	valid := func(names ...*string) {
		for _, s := range names {
			if !utf8.ValidString(*s) {
				*s = Pasteable(*s)
			}
		}
	}
	valid(&out.Meta.Program, &out.Meta.Path)
	out.Meta.Args = slices.Clone(p.Meta.Args)
	for i := range out.Meta.Args {
		valid(&out.Meta.Args[i])
	}
	out.Regions, out.Frames = slices.Clone(p.Regions), slices.Clone(p.Frames)
	for i := range out.Regions {
		r := &out.Regions[i]
		valid(&r.Name, &r.Location.File, &r.Location.Function, &r.Location.Object)
	}
	for i := range out.Frames {
		f := &out.Frames[i]
		valid(&f.Function, &f.File, &f.Object)
	}
	return &out
}
