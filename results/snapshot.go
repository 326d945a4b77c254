package results

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ompp-attach/collect"
	"ompp-attach/collect/launch"
	"ompp-attach/files"
	"ompp-attach/profile"
)

// KeepSnapshots writes snapshots to files of their own, which have the given number. It writes the
// snapshot of the process with that PID, or of all processes that run if pid is 0.
func (o *Directory) KeepSnapshots(res *collect.Result, pid, number int) (names []string, err error) {
	if len(res.Profiles) == 0 {
		return nil, nil
	}
	if err := o.readySnapshots(res.Profiles); err != nil {
		return nil, err
	}
	var errs []error
	for i, stem := range o.stems(res, o.Dir) {
		p := res.Profiles[i]
		if p.Meta.SnapshotAt.IsZero() || pid != 0 && p.Meta.PID != pid {
			continue
		}
		name := filepath.Join(o.Dir, KeptName(stem, number))
		if err := Save(name, func(w io.Writer) error { return profile.Encode(w, p) }); err != nil {
			errs = append(errs, err)
			continue
		}
		names = append(names, name)
		if t := res.Timelines[p]; t != nil && !t.Streams() {
			errs = append(errs, Stream(strings.TrimSuffix(name, RecordSuffix)+TimelineSuffix, t.Save))
		}
	}
	return names, errors.Join(errs...)
}

// WriteSnapshots writes the profile of each process as of now, under the name that the profile will
// have at the end.
func (o *Directory) WriteSnapshots(res *collect.Result) error {
	if len(res.Profiles) == 0 {
		return nil
	}
	if err := o.readySnapshots(res.Profiles); err != nil {
		return err
	}
	if o.shots == nil {
		o.shots = map[string]string{}
	}
	if o.mark == nil && o.rank == nil { // the user has named no directory
		o.mark = newMark(o.Dir, "")
		o.mark.begins(os.Getpid())
	}
	var errs []error
	written := map[string]string{}
	for i, stem := range o.stems(res, o.Dir) {
		p := res.Profiles[i]
		name, of := stem+RecordSuffix, ""
		if p.Meta.SnapshotAt.IsZero() {
			of = fmt.Sprint(p.Meta.PID, p.Meta.Start)
		}
		was, there := o.shots[name]
		if !there || of == "" || was != of {
			if err := Save(filepath.Join(o.Dir, name), func(w io.Writer) error { return profile.Encode(w, p) }); err != nil {
				errs = append(errs, err)
				if !there {
					continue
				}
				of = was // the file of the older snapshot stays
			}
		}
		written[name] = of
		delete(o.shots, name)
	}
	o.removeSnapshots() // files of processes whose profiles have another name now
	o.shots = written
	return errors.Join(errs...)
}

// readySnapshots adds to the profiles of snapshots the warning that Write adds, and makes the
// directory.
func (o *Directory) readySnapshots(profiles []*profile.Profile) error {
	o.tellSpawned(profiles)
	return o.ready(profiles[0].Meta.PID)
}

// removeSnapshots removes the files of snapshots that no later file has replaced.
func (o *Directory) removeSnapshots() {
	removeFiles(o.Dir, slices.Collect(maps.Keys(o.shots)))
	o.shots = nil
}

// removeFiles removes files of a directory, as far as possible.
func removeFiles(dir string, names []string) {
	if len(names) == 0 {
		return
	}
	root, _, err := OpenDirectory(dir, false)
	if err != nil {
		return
	}
	defer root.Close()
	for _, name := range names {
		_ = root.Remove(name)
	}
}

// CompleteSnapshot finds the last snapshot of a process whose collector was killed, and adds how
// the process ended. shot is nil if there is none.
func CompleteSnapshot(dir string, pid int, e launch.Ending) (shot *profile.Profile, name string) {
	names := files.Matching(dir, RecordStem+"*"+RecordSuffix)
	for _, n := range names {
		if p, err := ReadProfile(n); err == nil && p.Meta.PID == pid && !p.Meta.SnapshotAt.IsZero() && (shot == nil || shot.Meta.SnapshotAt.Before(p.Meta.SnapshotAt)) {
			shot, name = p, n
		}
	}
	if shot != nil {
		shot.Meta.Ended, shot.Meta.Exit = e.How, e.Status
		_ = Save(name, func(w io.Writer) error { return profile.Encode(w, shot) })
	}
	return shot, name
}
