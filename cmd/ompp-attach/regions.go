package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/files"
	"ompp-attach/regions"
	"ompp-attach/regions/list"
	"ompp-attach/symbols"
)

func regionsCommand() *cobra.Command {
	var source string
	var asJSON, noCache bool
	c := &cobra.Command{
		Use:   "regions BINARY",
		Short: "List the OpenMP regions of a program or library without running it",
		Long: `regions finds the OpenMP constructs of a program or library without running it.
It looks at calls of the OpenMP runtime, outlined functions, libomp's location
records, line information, and the directives of the source, if that is there.

For each construct it prints what Opari puts into a region descriptor: type,
name, number of sections, file, and the lines of the directive and of the end.
It also prints how the region was found, and how the region is measured when the
program runs: exact, derived or invisible, and why.

A line with ~ is near, not exact. A source file is used if it is no newer than
the binary. A file that is found below --source is always used.`,
		Example: "  ompp-attach regions ./solver\n  ompp-attach regions --source ~/src/solver --json /opt/solver/bin/solver",
		Args:    cli.Needed(1, "which program or library? give its file"),
		RunE: func(_ *cobra.Command, args []string) error {
			return listRegions(os.Stdout, args[0], source, asJSON, !noCache)
		},
	}
	c.Flags().StringVar(&source, "source", "", "look below this `DIR` for sources that are not where they were compiled")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&noCache, "no-cache", false, "neither use nor keep results of earlier looks at the same file")
	return c
}

func listRegions(w io.Writer, path, source string, asJSON, cache bool) error {
	fetchesDebugFiles(func(s string) { fmt.Fprintln(os.Stderr, s) })
	o, err := symbols.OpenObject(path)
	if err != nil {
		return fmt.Errorf("cannot look into %s: %w; give the file of a program or library", path, plainReason(err))
	}
	defer o.Close()
	if source != "" {
		if st, err := files.Stat(source); err != nil || !st.IsDir() {
			return cli.Misuse(fmt.Errorf("--source %s is no directory", source))
		}
		o.SearchSources(source)
	}
	build := regions.Build
	if cache {
		build = func(o *symbols.Object) (*regions.Table, error) { return regions.BuildCached(o, source) }
	}
	t, err := build(o)
	switch {
	case errors.Is(err, regions.ErrNoOpenMP):
		return fmt.Errorf("%s calls no OpenMP runtime: it was not compiled with -fopenmp, its OpenMP code is in a library (see ldd), "+
			"or it is static and stripped", path)
	case err != nil:
		return fmt.Errorf("%s %w", path, err)
	}
	for _, f := range files.Stuck() {
		cli.Warn("%s was not read, because its file system does not answer", f)
	}
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(t)
	}
	return list.Write(w, path, t)
}

// plainReason strips the operation and the path from an error, since the message has them already.
func plainReason(err error) error {
	for _, known := range []error{files.ErrNotRegular, files.ErrKernel, files.ErrStuck, symbols.ErrNotELF, symbols.Err32Bit, symbols.ErrUnsupported} {
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
