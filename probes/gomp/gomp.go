package gomp

import (
	"strings"

	"ompp-attach/event"
	"ompp-attach/probes"
	"ompp-attach/symbols"
)

// Runtime describes libgomp. GOMP_parallel and omp_get_thread_num come in one object file of
// libgomp.a.
var Runtime = probes.Runtime{
	Name:    event.Gomp,
	Defines: [][]string{{"GOMP_parallel", "omp_get_thread_num"}},
	Exports: "GOMP_parallel",
	Files:   []string{"libgomp"},
	Prefix:  "GOMP_",
	Tasks:   locateTasks,
	Place:   place,
	Version: version,
}

var table = probes.NewTable(basic, newer)

func place(p *probes.Planner) error {
	p.Tasks(table(), &taskCreated)
	p.Entries(table(), placeSectionsNext(p))
	if err := placeTeams(p); err != nil {
		return err
	}
	p.Enclosing(enclosing)
	placeTeamDone(p)
	return nil
}

// version returns the newest interface version that the library defines.
func version(o *symbols.Object) string {
	newest := ""
	for _, v := range o.DefinedVersions() {
		if strings.HasPrefix(v, "GOMP_") && !strings.HasPrefix(v, "GOMP_PLUGIN") {
			newest = v // the file lists versions from the oldest to the newest
		}
	}
	if newest == "" {
		return ""
	}
	return "interface " + newest
}
