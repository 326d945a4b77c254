package live

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// mostInLine is how many regions a line names at most.
const mostInLine = 3

// leastWall is the length of a window, in ns, below which a line gives no shares: times are of
// several clocks, and a reading of one may be late. The last window may be as short as that.
const leastWall = 50e6

// WriteLine writes an update as one line of a log.
func WriteLine(w io.Writer, f *Update) error {
	line := fmt.Sprintf("%s %.2fs", f.At.Format("15:04:05"), float64(f.Wall)/1e9)
	switch {
	case f.silent():
		line += " no construct or call has begun or ended yet"
	case f.Wall < leastWall:
		line += " too short for shares"
	default:
		line += f.shares()
	}
	if f.Final {
		line += " | final"
	}
	_, err := fmt.Fprintln(w, line)
	return err
}

// shares returns how the window's time divides, and the regions with most of it.
func (f *Update) shares() (text string) {
	t := &f.Window
	for _, x := range t.Named() {
		if x.T > 0 {
			text += fmt.Sprintf(" %s %.1f%%", x.Name, Share(x.T, t.Sum()))
		}
	}
	var most []string
	for i, r := range f.Regions {
		if i == mostInLine || r.Window.Own() <= 0 {
			break
		}
		most = append(most, fmt.Sprintf("%s %s %.1f%%", r.Construct, r.Title, Share(r.Window.Own(), t.Sum())))
	}
	if len(most) > 0 {
		text += " | " + strings.Join(most, ", ")
	}
	return text
}

// silent reports whether nothing was seen so far. Threads may be in serial code, or in a region
// that began before measurement did.
func (f *Update) silent() bool {
	return len(f.Regions) == 0 && f.Total.Serial > 0 && f.Total.Serial == f.Total.Sum()
}

// WriteJSON writes an update as one line of JSON.
func WriteJSON(w io.Writer, f *Update) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(f)
}

// oldTimes are Times with the name by which older readers know the time without a core.
type oldTimes struct {
	plainTimes
	Old int64 `json:"nocore"`
}

// plainTimes are Times without their methods.
type plainTimes Times

// MarshalJSON adds the time without a core under its older name, for older readers.
func (t Times) MarshalJSON() ([]byte, error) {
	return json.Marshal(oldTimes{plainTimes(t), t.NoCore})
}

// MarshalJSON writes the times and the executions. Without this method, Figures would have that of
// the embedded Times, which does not write executions.
func (f Figures) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		oldTimes
		Count int64 `json:"count"`
	}{oldTimes{plainTimes(f.Times), f.NoCore}, f.Count})
}

// NamedTime is one of Times, with its name.
type NamedTime struct {
	Name string
	T    int64
}

// Named lists the times with their names.
func (t *Times) Named() []NamedTime {
	return []NamedTime{{"work", t.Work}, {"serial", t.Serial}, {"synch", t.Synch}, {"imbal", t.Imbal}, {"limpar", t.Limpar},
		{"mgmt", t.Mgmt}, {"mpi", t.MPI}, {"no_core", t.NoCore}, {"idle", t.Idle}}
}

// Share returns a part in percent; 0 if the whole is 0. A short window may correct the window
// before it. Then a part may be below 0, and Share returns 0.
func Share(part, whole int64) float64 {
	if whole <= 0 || part <= 0 {
		return 0
	}
	return min(100, 100*float64(part)/float64(whole))
}
