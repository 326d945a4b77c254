package main

import (
	"context"
	"os"

	"ompp-attach/collect"
	"ompp-attach/debuginfod"
	"ompp-attach/symbols"
)

// debugServers is the client of the servers that DEBUGINFOD_URLS names; nil: none.
func debugServers(say func(string)) *debuginfod.Client {
	c := debuginfod.FromEnvironment(os.Getenv)
	if c != nil {
		c.Say = say
	}
	return c
}

// fetchesDebugFiles has debug files fetched as soon as they are looked for. It is for
// commands that hold up nobody.
func fetchesDebugFiles(say func(string)) {
	if c := debugServers(say); c != nil {
		symbols.UseDebugFiles(func(id string) (string, bool) {
			path, err := c.Fetch(context.Background(), id)
			return path, err == nil
		})
	}
}

// fetchAtEnd has debug files fetched when a measurement is over. Those of earlier
// measurements are there from the beginning.
func fetchAtEnd(c *debuginfod.Client, m *collect.Measurement) {
	if c != nil {
		m.FetchDebugFiles(func(id string) error {
			_, err := c.Fetch(context.Background(), id)
			return err
		})
	}
}
