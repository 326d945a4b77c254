// Package screen shows the updates of a measurement on a terminal, and follows the keys.
package screen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"ompp-attach/live"
)

// Actions are what keys ask of the measurement. An action either returns at once, or runs in a
// goroutine that the screen starts.
type Actions struct {
	Write func() (name string, err error) // write a snapshot to a file
}

// order is how regions are sorted.
type order int

const (
	byWindow order = iota
	byTotal
	byWaiting
	byCount
	byTitle
	numOrders
)

var orderNames = [numOrders]string{"own time in the window", "own time since the start", "waiting and MPI in the window", "executions in the window", "name"}

// Model is the state of the screen. It is a tea.Model.
type Model struct {
	title   string
	actions Actions
	width   int
	height  int
	shown   *live.Update // nil: there is none yet
	latest  *live.Update
	paused  bool
	sort    order
	cursor  string // title of the chosen region, with its construct; empty: none
	zoomed  bool   // the chosen region's threads are shown
	help    bool
	top     int    // first row that is shown of threads
	said    string // the last message
	over    bool   // the measurement is over: nothing changes any more
	Quit    bool   // the user has left
}

// New returns a screen with a title.
func New(title string, actions Actions) Model {
	return Model{title: title, actions: actions, width: 80, height: 24}
}

// Next is the message that carries the next update.
type Next struct{ *live.Update }

// Said is a message with a sentence for the user.
type Said string

// Init implements tea.Model.
func (m Model) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case Next:
		m.latest = msg.Update
		m.over = m.over || msg.Final
		if !m.paused || m.shown == nil || msg.Final {
			m.shown = msg.Update
		}
	case Said:
		m.said = string(msg)
	case tea.KeyPressMsg:
		return m.key(msg.String())
	}
	return m, nil
}

// key follows a key.
func (m Model) key(k string) (tea.Model, tea.Cmd) {
	switch k {
	case "q", "ctrl+c":
		m.Quit = true
		return m, tea.Quit
	case "esc":
		m.zoomed, m.help, m.top = false, false, 0
	case "?", "h":
		m.help = !m.help
	case "p", "space":
		m.paused = !m.paused
		if !m.paused && m.latest != nil {
			m.shown = m.latest
		}
	case "o", "tab":
		m.sort = (m.sort + 1) % numOrders
	case "w", "t", "m", "c", "n":
		m.sort = order(strings.Index("wtmcn", k))
	case "up", "k":
		m.move(-1)
	case "down", "j":
		m.move(1)
	case "pgup":
		m.move(-10)
	case "pgdown":
		m.move(10)
	case "enter":
		if m.cursor == "" {
			m.move(1)
		}
		m.zoomed = !m.zoomed && m.cursor != ""
		m.top = 0
	case "s":
		if m.actions.Write != nil {
			write := m.actions.Write
			m.said = "writing a snapshot ..."
			return m, func() tea.Msg {
				name, err := write()
				if err != nil {
					return Said(err.Error())
				}
				return Said("snapshot written: " + name)
			}
		}
	}
	return m, nil
}

// move moves the cursor through the regions or, in a region, through its threads.
func (m *Model) move(by int) {
	if m.shown == nil {
		return
	}
	if m.zoomed {
		m.top = max(0, min(len(m.shown.Threads)-1, m.top+by))
		return
	}
	rows := m.regions()
	if len(rows) == 0 {
		return
	}
	at := slices.IndexFunc(rows, func(r *live.Region) bool { return id(r) == m.cursor })
	if at < 0 && by > 0 {
		at = -1
	}
	m.cursor = id(rows[max(0, min(len(rows)-1, at+by))])
}

func id(r *live.Region) string { return r.Construct + " " + r.Title }

// regions returns the regions in the chosen order.
func (m *Model) regions() []*live.Region {
	rows := slices.Clone(m.shown.Regions)
	waits := func(r *live.Region) int64 { return r.Window.Waiting() + r.Window.MPI }
	slices.SortStableFunc(rows, func(a, b *live.Region) int {
		switch m.sort {
		case byTotal:
			return cmp.Compare(b.Total.Own(), a.Total.Own())
		case byWaiting:
			return cmp.Compare(waits(b), waits(a))
		case byCount:
			return cmp.Compare(b.Window.Count, a.Window.Count)
		case byTitle:
			return cmp.Compare(a.Title, b.Title)
		}
		return 0 // updates have this order already
	})
	return rows
}

// View implements tea.Model.
func (m Model) View() tea.View {
	v := tea.NewView(m.text())
	v.AltScreen = true
	return v
}

// text is what the screen shows.
func (m Model) text() string {
	if m.help {
		return m.fit(helpText)
	}
	if m.shown == nil {
		return m.fit(m.title + "\nattaching ...\n" + m.said)
	}
	lines := m.head()
	left := m.height - len(lines) - 1
	if m.zoomed {
		lines = append(lines, m.region(left)...)
	} else {
		threads := m.threads(max(3, left/3))
		regions := m.table(left - len(threads))
		lines = append(append(lines, regions...), threads...)
	}
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	lines = append(lines[:max(0, min(len(lines), m.height-1))], m.foot())
	return m.fit(strings.Join(lines, "\n"))
}

// fit cuts lines to the terminal's width.
func (m *Model) fit(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, l := range lines {
		if lipgloss.Width(l) > m.width {
			lines[i] = lipgloss.NewStyle().MaxWidth(m.width).Render(l)
		}
	}
	return strings.Join(lines, "\n")
}

var (
	strong = lipgloss.NewStyle().Bold(true)
	faint  = lipgloss.NewStyle().Faint(true)
	chosen = lipgloss.NewStyle().Reverse(true)
)

// head tells what is measured, and the classes.
func (m *Model) head() []string {
	f := m.shown
	state := fmt.Sprintf("%s, measured %s, window %s", f.At.Format("15:04:05"), duration(f.Measured), duration(f.Wall))
	switch {
	case m.over:
		state += ", over"
	case m.paused:
		state += ", PAUSED (the measurement goes on)"
	}
	var hits, lost uint64
	for _, p := range f.Processes {
		hits, lost = hits+p.Hits, lost+p.Lost
	}
	if lost > 0 {
		state += fmt.Sprintf(", %d of %d hits lost", lost, hits)
	}
	lines := []string{strong.Render(m.title) + "  " + state, "window " + bar(&f.Window, max(10, m.width-8)), "start  " + bar(&f.Total, max(10, m.width-8)), legend(&f.Window), ""}
	if len(f.Processes) > 1 {
		lines = append(lines, m.processes()...)
	}
	return lines
}

// processes tells of the ranks of a job on this node.
func (m *Model) processes() []string {
	const most = 8
	lines := []string{faint.Render(" rank      pid  work  wait   MPI  other")}
	for i, p := range m.shown.Processes {
		if i == most {
			lines = append(lines, fmt.Sprintf("  and %d more", len(m.shown.Processes)-most))
			break
		}
		rank := "-"
		if p.Rank >= 0 {
			rank = fmt.Sprint(p.Rank)
		}
		w := &p.Window
		sum := w.Sum()
		share := func(t int64) string { return fmt.Sprintf("%3.0f%%", live.Share(t, sum)) }
		line := fmt.Sprintf("%5s  %7d  %s  %s  %s   %s  %s", rank, p.PID, share(w.Work+w.Serial), share(w.Waiting()), share(w.MPI),
			share(w.Mgmt+w.NoCore+w.Idle), bar(w, max(5, m.width-45)))
		if p.Ended != "" {
			line += " ended"
		}
		lines = append(lines, line)
	}
	return append(lines, "")
}

// table lists the regions that cost most.
func (m *Model) table(height int) []string {
	rows := m.regions()
	wide := max(20, m.width-58)
	head := fmt.Sprintf("  %-*s  %7s %6s %6s %6s %8s %7s", wide, "REGION (by "+orderNames[m.sort]+")", "OWN", "WORK", "WAIT", "MPI", "COUNT", "TOTAL")
	lines := []string{faint.Render(head)}
	at := slices.IndexFunc(rows, func(r *live.Region) bool { return id(r) == m.cursor })
	first := max(0, at-max(0, height-4))
	for i, r := range rows {
		if i < first {
			continue
		}
		if len(lines) >= height-1 {
			break
		}
		w := &r.Window
		share := func(t int64) string { return fmt.Sprintf("%5.1f%%", live.Share(t, m.shown.Window.Sum())) }
		line := fmt.Sprintf("%-*s  %s %s %s %s %8d %7s", wide, cut(id(r), wide), " "+share(w.Own()), share(w.Work), share(w.Waiting()), share(w.MPI), w.Count, seconds(r.Total.Own()))
		if i == at {
			line = chosen.Render("> " + line)
		} else {
			line = "  " + line
		}
		lines = append(lines, line)
	}
	return append(lines, "")
}

// threads shows what each thread did in the window.
func (m *Model) threads(height int) []string {
	f := m.shown
	lines := []string{faint.Render("  THREAD         MOSTLY")}
	for i, t := range f.Threads {
		if len(lines) >= height-1 && len(f.Threads)-i > 1 {
			lines = append(lines, fmt.Sprintf("  and %d more threads", len(f.Threads)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("  %-13s  %-8s %s", m.thread(&t), t.State, bar(&t.Window, max(10, m.width-28))))
	}
	return lines
}

func (m *Model) thread(t *live.Thread) string {
	switch {
	case t.Rank >= 0:
		return fmt.Sprintf("r%d.%s", t.Rank, t.Name)
	case len(m.shown.Processes) > 1:
		return fmt.Sprintf("%d.%s", t.PID, t.Name)
	}
	return t.Name
}

// region shows the chosen region, thread by thread.
func (m *Model) region(height int) []string {
	for _, r := range m.shown.Regions {
		if id(r) != m.cursor {
			continue
		}
		lines := []string{strong.Render(id(r)) + "  " + r.Function, fmt.Sprintf("window: %d executions, own time %s  %s", r.Window.Count, seconds(r.Window.Own()), parts(&r.Window.Times)),
			fmt.Sprintf("start:  %d executions, own time %s  %s", r.Total.Count, seconds(r.Total.Own()), parts(&r.Total.Times)), "",
			faint.Render("  THREAD          WINDOW    START")}
		for i := m.top; i < len(m.shown.Threads) && len(lines) < height; i++ {
			in := &r.Threads[i]
			lines = append(lines, fmt.Sprintf("  %-13s %8s %8s  %s", m.thread(&m.shown.Threads[i]), seconds(in.Window.Own()), seconds(in.Total.Own()), bar(&in.Window, max(10, m.width-38))))
		}
		return lines
	}
	return []string{"this region was not executed yet"}
}

func (m *Model) foot() string {
	keys := "q quit  p pause  o order  ↑↓ choose  ⏎ zoom  s snapshot  ? help"
	if m.zoomed {
		keys = "q quit  p pause  ↑↓ scroll  esc back  s snapshot  ? help"
	}
	if m.said != "" {
		return strong.Render(m.said) + "  " + faint.Render(keys)
	}
	return faint.Render(keys)
}

func cut(s string, width int) string {
	r := []rune(s)
	if len(r) <= width {
		return s
	}
	return string(r[:width-1]) + "…"
}

func seconds(ns int64) string { return fmt.Sprintf("%.2fs", float64(ns)/1e9) }

func duration(ns int64) string { return time.Duration(ns).Round(10 * time.Millisecond).String() }

const helpText = `Keys

  q, Ctrl-C   end the measurement; an attached process goes on as before
  p, space    hold the picture; the measurement goes on
  o, tab      the next order of the regions: w own time in the window, t since the start,
              m waiting and MPI, c executions, n name
  up, down    choose a region (also k, j, page up, page down)
  enter       show the chosen region thread by thread; esc goes back
  s           write a snapshot, a recorded profile for report and diff

Shares are of the time of all threads in the window. OWN: in the region, without the
regions inside it. WAIT: synch, imbal and limpar. A thread is shown with what it did for
most of the window.

? or esc leaves this page.`
