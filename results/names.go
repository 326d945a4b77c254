package results

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ompp-attach/collect"
	"ompp-attach/profile"
	"ompp-attach/report/jobs"
)

// KeptStem begins the name of a snapshot that is kept, where that of a profile has RecordStem. Its
// number follows the stem.
const KeptStem = "snapshot"

// keptSnapshot matches the names of these files.
var keptSnapshot = regexp.MustCompile(`^` + KeptStem + `((?:\.rank\d+)?(?:\.pid\d+)?(?:-\d+)?)\.(\d+)\.json\.gz$`)

// keptTimeline matches the names of their timelines.
const keptTimeline = KeptStem + `(?:\.rank\d+)?(?:\.pid\d+)?(?:-\d+)?\.\d+\.timeline`

// KeptName is the name of the n-th snapshot of the profile with that stem.
func KeptName(stem string, n int) string {
	return fmt.Sprintf("%s%s.%d%s", KeptStem, strings.TrimPrefix(stem, RecordStem), n, RecordSuffix)
}

// stems returns the names of the profiles' files, without suffix. A process that runs several
// programs one after the other has several profiles. Several jobs may have ranks of one number. All
// ranks of the job that started second get the number 2, so that the jobs' files can be told apart.
func (o *Directory) stems(res *collect.Result, dir string) (out []string) {
	taken, jobs := map[string]bool{}, jobsByStart(res.Profiles)
	for _, p := range res.Profiles {
		stem, n := RecordStem, 1
		if isRank(p) {
			stem += ".rank" + strconv.Itoa(p.Meta.MPI.Rank)
			n = jobs[p.Meta.MPI.Job]
		} else {
			if o.rank != nil {
				stem += ".rank" + strconv.Itoa(o.rank.Rank)
			}
			if o.rank != nil || p != res.First {
				stem += ".pid" + strconv.Itoa(p.Meta.PID)
			}
		}
		free := numbered(stem, n)
		for taken[free] || o.rank != nil && o.others(dir, free+RecordSuffix) {
			n++
			free = numbered(stem, n)
		}
		taken[free] = true
		out = append(out, free)
	}
	return out
}

// jobsByStart numbers the jobs of ranks from 1 in the order in which their first ranks started. One
// job may start another one (MPI_Comm_spawn), which ends first.
func jobsByStart(profiles []*profile.Profile) map[string]int {
	ranks := slices.DeleteFunc(slices.Clone(profiles), func(p *profile.Profile) bool { return !isRank(p) })
	slices.SortStableFunc(ranks, func(a, b *profile.Profile) int { return a.Meta.Start.Compare(b.Meta.Start) })
	jobs := map[string]int{}
	for _, p := range ranks {
		if name := p.Meta.MPI.Job; jobs[name] == 0 {
			jobs[name] = len(jobs) + 1
		}
	}
	return jobs
}

// others tells whether a file exists that is not one of our own snapshots. The ranks of a job may
// write to one directory.
func (o *Directory) others(dir, name string) bool {
	_, own := o.shots[name]
	return !(own && dir == o.Dir) && exists(filepath.Join(dir, name))
}

func numbered(stem string, n int) string {
	if n == 1 {
		return stem
	}
	return stem + "-" + strconv.Itoa(n)
}

// resultFile matches the names of all files that we write, in every format.
var resultFile = func() *regexp.Regexp {
	ends := []string{regexp.QuoteMeta(RecordSuffix), regexp.QuoteMeta(TimelineSuffix), regexp.QuoteMeta(strings.TrimPrefix(outputName, RecordStem))}
	for _, f := range formats {
		if f.Tree != nil {
			continue
		}
		ends = append(ends, regexp.QuoteMeta(strings.TrimPrefix(f.Suffix, RecordStem)))
	}
	var ofJobs []string
	for _, f := range jobFormats {
		for _, file := range f.Files {
			ofJobs = append(ofJobs, regexp.QuoteMeta(file.Name))
		}
	}
	return regexp.MustCompile("^(" + RecordStem + `(\.rank\d+)?(\.pid\d+)?(-\d+)?(` + strings.Join(ends, "|") + ")|" + strings.Join(ofJobs, "|") + "|" + keptSnapshot.String()[1:len(keptSnapshot.String())-1] + "|" + keptTimeline + ")$")
}()

// resultTree matches the names of all directories that formats write to.
var resultTree = func() *regexp.Regexp {
	var ends []string
	for _, f := range formats {
		if f.Tree != nil {
			ends = append(ends, regexp.QuoteMeta(strings.TrimPrefix(f.Suffix, RecordStem)))
		}
	}
	return regexp.MustCompile("^(" + RecordStem + `(\.rank\d+)?(\.pid\d+)?(-\d+)?(` + strings.Join(ends, "|") + ")|" + regexp.QuoteMeta(jobs.TAUDirectory) + ")$")
}()

// isRank tells whether a profile is that of a known rank. A process counts as one without a rank if
// it did not reach MPI_Init, or if its library does not tell its rank.
func isRank(p *profile.Profile) bool { return p.Meta.MPI != nil && p.Meta.MPI.Rank >= 0 }

// Recorded matches the names of all recorded profiles.
var Recorded = regexp.MustCompile(`^profile\b.*\.json\.gz$`)

// choose names the directory if the user has not.
func (o *Directory) choose(pid int) {
	if o.Dir == "" {
		o.Dir = unused(defaultDirectory(o.program, pid))
	}
}

// unused returns a name that does not exist yet: an older process may have had the same PID.
func unused(base string) string {
	name := base
	for n := 2; exists(name); n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return name
}

// defaultDirectory names the directory for a process's results. A file name has at most 255 bytes.
func defaultDirectory(program string, pid int) string {
	const longest = 200
	return fmt.Sprintf("ompp-%s-%d", program[:min(len(program), longest)], pid)
}

// placeBelow names the directory for profiles below dir. The ranks of one job share it.
func (o *Directory) placeBelow(dir string, pid int) string {
	if o.rank != nil {
		return filepath.Join(dir, filepath.Base(o.Dir))
	}
	return unused(filepath.Join(dir, defaultDirectory(o.program, pid)))
}
