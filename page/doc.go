// Package page writes a report as one page for a browser. It is profile.html of a process, job.html
// of a job, or a page of the difference of two sides. The page holds its scripts, its style and its
// figures, and loads nothing.
//
// Process, Job and Difference hold all figures that a page shows. Their JSON is embedded in the
// page. The format json of a process is the same JSON. The scripts (web/*.ts, web/*.tsx) draw from
// the JSON, and compute no figures but sums and shares. Without scripts, a browser shows the tables
// that html.go makes of the same figures.
//
// The bundle dist/page.js is committed, so that building the tool needs no node. `go generate
// ./page` makes the bundle anew.
package page

//go:generate npm --prefix web ci --ignore-scripts --no-audit --no-fund
//go:generate npm --prefix web run check
//go:generate npm --prefix web run build
