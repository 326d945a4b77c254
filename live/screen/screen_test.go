package screen

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"ompp-attach/live"
)

func region(title string, own, total, wait, count int64) *live.Region {
	r := &live.Region{Construct: "LOOP", Title: title, Threads: make([]live.ThreadTimes, 2)}
	r.Window.Work, r.Window.Imbal, r.Window.Count = own, wait, count
	r.Total.Work, r.Total.Imbal = total, wait
	r.Threads[0].Window = r.Window.Times
	return r
}

func update(n int) *live.Update {
	f := &live.Update{Wall: 1e9, Measured: int64(n) * 1e9, Window: live.Times{Work: 12e8, Imbal: 4e8, Idle: 4e8}, Total: live.Times{Work: 5e9},
		Processes: []live.Process{{PID: 7, Rank: -1, Hits: 10}},
		Threads:   []live.Thread{{PID: 7, Rank: -1, Name: "0", State: "working", Window: live.Times{Work: 1e9}}, {PID: 7, Rank: -1, Name: "1", State: "waiting", Window: live.Times{Imbal: 1e9}}},
		Regions:   []*live.Region{region("a.c (1)", 8e8, 1e9, 0, 5), region("b.c (2)", 3e8, 3e9, 1e8, 50), region("c.c (3)", 1e8, 2e9, 3e8, 1)}}
	return f
}

// press sends keys, and returns the model and what it shows.
func press(t *testing.T, m tea.Model, keys ...string) (Model, string) {
	t.Helper()
	codes := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "tab": tea.KeyTab, "space": tea.KeySpace}
	for _, k := range keys {
		msg := tea.KeyPressMsg{Code: rune(k[0]), Text: k}
		if code, ok := codes[k]; ok {
			msg = tea.KeyPressMsg{Code: code}
		}
		if k == "ctrl+c" {
			msg = tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
		}
		var cmd tea.Cmd
		if m, cmd = m.Update(msg); cmd != nil {
			if answer := cmd(); answer != nil {
				m, _ = m.Update(answer)
			}
		}
	}
	return m.(Model), m.(Model).text()
}

func shown(width, height, n int, a Actions) tea.Model {
	m, _ := New("solver (process 7)", a).Update(tea.WindowSizeMsg{Width: width, Height: height})
	m, _ = m.Update(Next{update(n)})
	return m
}

// firstRegion is the region in the table's first row.
func firstRegion(view string) string {
	for line := range strings.Lines(view) {
		if i := strings.Index(line, "LOOP "); i >= 0 {
			return strings.Fields(line[i:])[1]
		}
	}
	return ""
}

func TestOrders(t *testing.T) {
	m := shown(100, 30, 1, Actions{})
	for _, c := range []struct{ key, want string }{{"w", "a.c"}, {"t", "b.c"}, {"m", "c.c"}, {"c", "b.c"}, {"n", "a.c"}, {"o", "a.c"}} {
		var view string
		if m, view = press(t, m, c.key); firstRegion(view) != c.want {
			t.Errorf("%s: %q is first, want %q\n%s", c.key, firstRegion(view), c.want, view)
		}
	}
}

func TestPause(t *testing.T) {
	m, view := press(t, shown(100, 30, 1, Actions{}), "space")
	if !strings.Contains(view, "PAUSED") {
		t.Error(view)
	}
	next, _ := m.Update(Next{update(9)})
	if view := next.(Model).text(); strings.Contains(view, "measured 9s") {
		t.Errorf("a paused screen goes on:\n%s", view)
	}
	if _, view := press(t, next, "p"); !strings.Contains(view, "measured 9s") || strings.Contains(view, "PAUSED") {
		t.Errorf("the screen does not go on:\n%s", view)
	}
}

func TestZoom(t *testing.T) {
	m, view := press(t, shown(100, 30, 1, Actions{}), "down", "down", "enter")
	if !strings.Contains(view, "LOOP b.c (2)") || strings.Contains(view, "a.c") || !strings.Contains(view, "50 executions, own time 0.40s") {
		t.Error(view)
	}
	if _, view := press(t, m, "esc"); !strings.Contains(view, "a.c") || !strings.Contains(view, "> LOOP b.c") {
		t.Error(view)
	}
}

func TestKeys(t *testing.T) {
	if m, _ := press(t, shown(80, 24, 1, Actions{}), "q"); !m.Quit {
		t.Error("q does not quit")
	}
	if m, _ := press(t, shown(80, 24, 1, Actions{}), "ctrl+c"); !m.Quit {
		t.Error("Ctrl-C does not quit")
	}
	if _, view := press(t, shown(80, 24, 1, Actions{}), "?"); !strings.Contains(view, "write a snapshot") {
		t.Error(view)
	}
	written := Actions{Write: func() (string, error) { return "out/snapshot.1.json.gz", nil }}
	if _, view := press(t, shown(120, 24, 1, written), "s"); !strings.Contains(view, "snapshot written: out/snapshot.1.json.gz") {
		t.Error(view)
	}
	failed := Actions{Write: func() (string, error) { return "", errors.New("there is no room") }}
	if _, view := press(t, shown(120, 24, 1, failed), "s"); !strings.Contains(view, "there is no room") {
		t.Error(view)
	}
}

// Whatever the terminal's size, no line is wider than it, and no more lines are drawn than it has.
func TestSizes(t *testing.T) {
	for _, size := range [][2]int{{20, 5}, {40, 10}, {80, 24}, {200, 60}, {1, 1}} {
		for _, keys := range [][]string{{}, {"down", "enter"}, {"?"}} {
			m := shown(size[0], size[1], 1, Actions{})
			many := update(1)
			for i := range 100 {
				many.Threads = append(many.Threads, live.Thread{Name: fmt.Sprint(i), Rank: -1})
				many.Regions = append(many.Regions, region(fmt.Sprintf("long%d.c (%d-%d)", i, i, i+1), 1, 1, 1, 1))
			}
			for _, r := range many.Regions {
				r.Threads = make([]live.ThreadTimes, len(many.Threads))
			}
			m, _ = m.Update(Next{many})
			_, view := press(t, m, keys...)
			lines := strings.Split(view, "\n")
			if len(keys) == 0 && len(lines) > size[1] {
				t.Errorf("%v: %d lines", size, len(lines))
			}
			for _, l := range lines {
				if lipgloss.Width(l) > size[0] {
					t.Errorf("%v: a line of %d columns: %q", size, lipgloss.Width(l), l)
				}
			}
		}
	}
}
