// Package names reads the names that compilers derive from a function's name: those of outlined
// functions and clones, and mangled names.
package names

import (
	"regexp"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// outlined matches the part of an outlined function's name that follows the name of the source
// function. The function is a parallel region or a task. Examples are GCC's f._omp_fn.0 and
// f._omp_cpyfn.1, clang 14's .omp_outlined..2, clang 19's f.omp_outlined and f.omp_outlined_debug__
// (-O0), and .omp_task_entry. of both clangs.
var outlined = regexp.MustCompile(`\._omp_(cpy)?fn\.|\.omp_outlined|\.omp_task_|\.omp_combiner\.|\.omp\.reduction\.`)

// cloned matches the suffixes of clones and parts of a function that GCC and
// LLVM make.
var cloned = regexp.MustCompile(`\.(cold|part|constprop|isra|lto_priv|localalias|llvm|extracted)(\.|$)`)

// IsOutlined reports whether a symbol is that of a parallel region or task which the compiler moved
// into a function of its own.
func IsOutlined(symbol string) bool { return outlined.MatchString(symbol) }

// Source returns the symbol of the function from which the compiler made the given one; "": the
// name does not tell.
func Source(symbol string) string {
	if at := outlined.FindStringIndex(symbol); at != nil {
		symbol = symbol[:at[0]]
	}
	if at := cloned.FindStringIndex(symbol); at != nil && at[0] > 0 {
		symbol = symbol[:at[0]]
	}
	return symbol
}

// IsMangled recognises C++ and Rust names.
func IsMangled(symbol string) bool {
	return strings.HasPrefix(symbol, "_Z") || strings.HasPrefix(symbol, "_R")
}

// Demangled returns the name for users, without parameters: reports have no room for them.
func Demangled(name string) string {
	return demangle.Filter(name, demangle.NoParams)
}
