package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"ompp-attach/attribution"
)

func reportCommand() *cobra.Command {
	var formats []string
	var view viewFlags
	c := &cobra.Command{
		Use:     "report DIR",
		Short:   "Write reports from recorded profiles, without measuring again",
		Example: "  ompp-attach report --format ompp ompp-solver-4711",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return rereport(args[0], formats, &view) },
	}
	view.register(c)
	c.Flags().StringSliceVar(&formats, "format", []string{"ompp", "pprof"}, "reports to write: "+formatNames())
	return c
}

func rereport(dir string, formats []string, view *viewFlags) error {
	if err := checkFormats(formats); err != nil {
		return &exitError{exitUsage, err}
	}
	names, err := filepath.Glob(filepath.Join(dir, "profile*"+recordSuffix))
	if err != nil {
		return err
	}
	if len(names) == 0 {
		if _, err := os.Stat(dir); err != nil {
			return fmt.Errorf("cannot open %s: %w", dir, errors.Unwrap(err))
		}
		return fmt.Errorf("%s holds no recorded profile (%s): give a directory that run or attach has written", dir, recordName)
	}
	var errs []error
	for _, name := range names {
		p, err := readProfile(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		stem := strings.TrimSuffix(filepath.Base(name), recordSuffix)
		files, err := renderAll(dir, stem, p, formats, view.options())
		for _, f := range files {
			fmt.Println(f)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func readProfile(name string) (*attribution.Profile, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := attribution.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}
