package profile

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Pasteable makes text harmless to a terminal and to JSON. A word that holds bytes that
// are not UTF-8, or characters that do not print, becomes what a shell reads as the same
// name, src/$'l\366ser.c', so that a user can copy and paste the word. Blanks part words;
// of a path, only the elements that need quotes have them.
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

// pasteableWord leaves what a sentence puts around a name outside of the quotes.
func pasteableWord(w string) string {
	if prints(w) {
		return w
	}
	name := strings.TrimLeft(w, "([{\"'`")
	before := w[:len(w)-len(name)]
	name = strings.TrimRight(name, " /)]}\"'`,;:.")
	return before + quoted(name) + w[len(before)+len(name):]
}

// PasteableName is a name alone, as a shell takes it: a name that holds blanks or what
// means something to a shell is quoted as well.
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

// quoted is a word in the quotes of bash, ksh, zsh and POSIX.1-2024. Octal digits write a
// byte, since some of those shells read any number of hexadecimal digits behind \x.
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

// recordable is a copy of a profile of which JSON can hold the names: the program's,
// those of files, functions and regions.
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
