package words

import "strings"

// Named returns the element of a list that has a name; ok is false if there is none.
func Named[T any](list []T, nameOf func(*T) string, name string) (found T, ok bool) {
	for i := range list {
		if nameOf(&list[i]) == name {
			return list[i], true
		}
	}
	return found, false
}

// Names lists the names of all elements, for a message.
func Names[T any](list []T, nameOf func(*T) string) string {
	names := make([]string, len(list))
	for i := range list {
		names[i] = nameOf(&list[i])
	}
	return strings.Join(names, ", ")
}
