package screen

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"ompp-attach/live"
)

// looks are the colours of the classes, and a sign for each class that tells it without colours.
// The colours are safe for the colour-blind (Okabe and Ito).
var looks = map[string]struct{ color, sign string }{
	"work": {"#999999", "█"}, "serial": {"#BBBBBB", "▓"}, "synch": {"#D55E00", "s"}, "imbal": {"#E69F00", "i"}, "limpar": {"#F0E442", "l"},
	"mgmt": {"#CC79A7", "m"}, "mpi": {"#0072B2", "M"}, "no_core": {"#444444", "x"}, "idle": {"#56B4E9", "·"},
}

// bar draws times as a bar of the given width. Each time has its share of the bar. Rounding never
// draws a time that is 0.
func bar(t *live.Times, width int) string {
	sum := int64(0)
	for _, x := range t.Named() {
		sum += max(0, x.T)
	}
	if sum == 0 {
		return strings.Repeat(" ", width)
	}
	var b strings.Builder
	done, drawn := int64(0), 0
	for _, x := range t.Named() {
		done += max(0, x.T)
		to := int((float64(done)/float64(sum))*float64(width) + 0.5)
		if n := to - drawn; n > 0 {
			look := looks[x.Name]
			b.WriteString(lipgloss.NewStyle().Foreground(lipgloss.Color(look.color)).Render(strings.Repeat(look.sign, n)))
			drawn = to
		}
	}
	return b.String()
}

// legend explains the bars, with the shares.
func legend(t *live.Times) string {
	var all []string
	for _, x := range t.Named() {
		if x.T > 0 {
			look := looks[x.Name]
			all = append(all, lipgloss.NewStyle().Foreground(lipgloss.Color(look.color)).Render(look.sign)+fmt.Sprintf(" %s %.1f%%", x.Name, live.Share(x.T, t.Sum())))
		}
	}
	return "       " + strings.Join(all, "  ")
}

// parts writes times as shares of their sum.
func parts(t *live.Times) string {
	var all []string
	for _, x := range t.Named() {
		if x.T > 0 {
			all = append(all, fmt.Sprintf("%s %.0f%%", x.Name, live.Share(x.T, t.Sum())))
		}
	}
	return strings.Join(all, ", ")
}
