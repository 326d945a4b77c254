package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"ompp-attach/regions"
	"ompp-attach/symbols"
)

func regionsCommand() *cobra.Command {
	var source string
	var asJSON, noCache bool
	c := &cobra.Command{
		Use:   "regions BINARY",
		Short: "List the OpenMP regions of a program or library without running it",
		Long: `regions finds the OpenMP constructs of a program or library without running it,
from its calls of the OpenMP runtime, its outlined functions, libomp's location
records, line information and, where the source is there, its directives. For
each it prints what Opari, which reads the source, would put into a region
descriptor: type, name, number of sections, file, and the lines of the directive
and of the end; further how the region was found, and how it is measured when
the program runs: exact, derived or invisible, and why.

A line with ~ is near, not exact. A source file is believed if it is no newer
than the binary; one that is found under --source always.`,
		Example: "  ompp-attach regions ./solver\n  ompp-attach regions --source ~/src/solver --json /opt/solver/bin/solver",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return listRegions(os.Stdout, args[0], source, asJSON, !noCache)
		},
	}
	c.Flags().StringVar(&source, "source", "", "directory below which to look for sources that are not where they were compiled")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&noCache, "no-cache", false, "do not use or keep the result of an earlier look at the same file")
	return c
}

func listRegions(w io.Writer, path, source string, asJSON, cache bool) error {
	o, err := symbols.OpenObject(path)
	if err != nil {
		return fmt.Errorf("cannot look into %s: %w", path, plainReason(err))
	}
	defer o.Close()
	if source != "" {
		if st, err := os.Stat(source); err != nil || !st.IsDir() {
			return &exitError{exitUsage, fmt.Errorf("--source %s is no directory", source)}
		}
		o.SearchSources(source)
	}
	_ = cache
	t, err := regions.Build(o)
	if errors.Is(err, regions.ErrNoOpenMP) {
		return fmt.Errorf("%s calls no OpenMP runtime: it was not compiled with -fopenmp, or its OpenMP code is in a library (see ldd)", path)
	}
	if err != nil {
		return err
	}
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(t)
	}
	return printRegions(w, path, t)
}

// plainReason strips operation and path, which the message has already.
func plainReason(err error) error {
	for _, known := range []error{symbols.ErrNotELF, symbols.Err32Bit, symbols.ErrUnsupported} {
		if errors.Is(err, known) {
			return known
		}
	}
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

func printRegions(w io.Writer, path string, t *regions.Table) error {
	var b strings.Builder
	file := "\x00"
	for i := range t.Regions {
		r := &t.Regions[i]
		if r.File != file {
			file = r.File
			fmt.Fprintf(&b, "%s\n", file)
		}
		fmt.Fprintf(&b, "%s%s [%s] %d %d-%d:%d-%d near=%v/%v %s | %s | %s %s | %d sites\n", strings.Repeat("  ", r.Depth), r.Type(), r.Name, r.Sections,
			r.Begin, r.BeginLast, r.EndFirst, r.End, r.BeginNear, r.EndNear, r.Function, strings.Join(r.Found.Names(), ","), r.Measure, r.Why, len(r.Sites))
	}
	for _, n := range t.Notes {
		fmt.Fprintln(&b, n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
