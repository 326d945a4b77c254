// Package hierarchy writes the statistics of hierarchical traces (package hiera): as text, as
// tables (CSV) and as JSON. It computes no figures of its own. Every format has the same tables.
package hierarchy
