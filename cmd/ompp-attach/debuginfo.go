package main

import (
	"context"
	"os"

	"ompp-attach/collect"
	"ompp-attach/debuginfod"
	"ompp-attach/symbols"
)

// debugServers returns the client of the servers in DEBUGINFOD_URLS, or nil if there are none.
func debugServers(say func(string)) *debuginfod.Client {
	c := debuginfod.FromEnvironment(os.Getenv)
	if c != nil {
		c.Say = say
	}
	return c
}

// fetchesDebugFiles makes a command that measures nothing fetch a debug file as soon as the command
// needs the file.
func fetchesDebugFiles(say func(string)) {
	if c := debugServers(say); c != nil {
		symbols.UseDebugFiles(func(id string) (string, bool) {
			path, err := c.Fetch(context.Background(), id)
			return path, err == nil
		})
	}
}

// fetchAtEnd makes a measurement fetch debug files when it is over. Files that were fetched before
// are used from the beginning.
func fetchAtEnd(c *debuginfod.Client, m *collect.Measurement) {
	if c != nil {
		m.FetchDebugFiles(func(id string) error {
			_, err := c.Fetch(context.Background(), id)
			return err
		})
	}
}
