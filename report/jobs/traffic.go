package jobs

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"ompp-attach/job"
	"ompp-attach/job/traffic"
	"ompp-attach/mpi"
	"ompp-attach/profile"
	"ompp-attach/report"
	"ompp-attach/report/words"
)

// Whom ranks exchange messages with, and how large messages are.

type (
	trafficJSON struct {
		Width int `json:"width"` // ranks of a bin
		Bins  int `json:"bins"`
		// Bin of the sender, of the receiver, messages, bytes.
		Cells    [][4]uint64     `json:"cells"`
		Messages uint64          `json:"messages"`
		Bytes    uint64          `json:"bytes"`
		AtLeast  bool            `json:"at_least,omitempty"` // pairs and receivers are lower bounds
		Pairs    int             `json:"pairs"`
		Heaviest []pairJSON      `json:"heaviest"`
		To       statsJSON       `json:"receivers"`
		Sizes    *profile.BySize `json:"sizes,omitempty"`
		Unknown  []apart         `json:"unknown,omitempty"`
	}
	pairJSON struct {
		From     int    `json:"from"`
		To       int    `json:"to"`
		Messages uint64 `json:"messages"`
		Bytes    uint64 `json:"bytes"`
	}
	// apart is the exchange with partners whose ranks are not known.
	apart struct {
		Why string `json:"why"`
		profile.Exchange
	}
)

// mostPairs is the number of the heaviest pairs that reports list.
const mostPairs = 10

func trafficToJSON(j *job.Job) *trafficJSON {
	m := j.Traffic.Matrix()
	heaviest, all := j.Traffic.Heaviest(mostPairs)
	out := &trafficJSON{Width: m.Width, Bins: m.Bins, Cells: [][4]uint64{}, AtLeast: j.TrafficAtLeast(), Pairs: all, Heaviest: []pairJSON{},
		To: *toJSON(j.Receivers()), Sizes: sizesToJSON(j.Sizes()), Unknown: unknownPartners(j)}
	if len(m.Cells) == 0 && out.Sizes == nil && out.Unknown == nil {
		return nil
	}
	for _, c := range m.Cells {
		out.Cells = append(out.Cells, [4]uint64{uint64(c.From), uint64(c.To), c.Messages, c.Bytes})
		out.Messages += c.Messages
		out.Bytes += c.Bytes
	}
	for _, l := range heaviest {
		out.Heaviest = append(out.Heaviest, pairJSON{l.Rank, l.Partner, l.Sends, l.Out})
	}
	return out
}

func sizesToJSON(z profile.BySize) *profile.BySize {
	if z.None() {
		return nil
	}
	return &z
}

// unknownPartners adds up the exchange with partners whose ranks in MPI_COMM_WORLD are not known,
// by the reason why.
func unknownPartners(j *job.Job) (out []apart) {
	add := func(why string, x profile.Exchange) {
		i := slices.IndexFunc(out, func(a apart) bool { return a.Why == why })
		if i < 0 {
			i = len(out)
			out = append(out, apart{Why: why})
		}
		out[i].Add(x)
	}
	for _, l := range j.Traffic.Links {
		if l.Partner < 0 {
			add(reason(&l), l.Exchange)
		}
	}
	if x := j.Traffic.Others; x != (profile.Exchange{}) {
		add("partners beyond those that are held of each rank", x)
	}
	slices.SortStableFunc(out, func(a, b apart) int { return cmp.Compare(b.Out+b.In, a.Out+a.In) })
	return out
}

// reason says why a partner's rank in MPI_COMM_WORLD is not known.
func reason(l *traffic.Link) string {
	c := &l.Comm
	switch {
	case l.Local == mpi.AnySource:
		return "receives from MPI_ANY_SOURCE that did not tell the source"
	case l.Unheld:
		return "partners in communicators beyond those that are held of each rank"
	case c.Inter:
		return "partners in other groups, of intercommunicators"
	case c.By == nil:
		return "partners in communicators that were not seen being made"
	}
	return fmt.Sprintf("partners in what %s made, whose members are not known", c.By)
}

// traffic writes who sends most to whom, and the sizes of messages.
func (t *jobText) traffic() {
	x := trafficToJSON(t.j)
	if x == nil {
		return
	}
	if x.Pairs > 0 || x.Unknown != nil {
		t.section("Who sends to whom?")
	} else {
		t.section("How large are messages?")
	}
	if x.Pairs > 0 {
		heaviest, _ := t.j.Traffic.Heaviest(mostPairs)
		part := "of all"
		if x.AtLeast {
			part = "of known"
			to := "to known ranks"
			if len(t.j.Missing()) > 0 {
				to = fmt.Sprintf("%s by the %s that could be read", to, words.Plural(len(t.j.Ranks), "rank"))
			}
			t.sentence("%s, %s, %s sent %s, by the senders' records. At least %s of ranks exchanged messages. "+
				"A rank sent to at least %s. The table has the heaviest of those pairs that are known.",
				words.Plural(int(x.Messages), "message"), words.Plural(int(x.Bytes), "byte"), were(x.Messages), to, words.Plural(x.Pairs, "pair"), otherRanks(x.To.Min, x.To.Max))
		} else {
			t.sentence("%s, %s, %s sent between %s of ranks, by the senders' records. A rank sent to %s, rank %d to the most.",
				words.Plural(int(x.Messages), "message"), words.Plural(int(x.Bytes), "byte"), were(x.Messages), words.Plural(x.Pairs, "pair"), otherRanks(x.To.Min, x.To.Max), x.To.MaxRank)
		}
		tab := table{head: []string{"from", "to", "messages", "bytes", "mean", part}}
		for _, l := range heaviest {
			tab.add(rankNum(l.Rank), rankNum(l.Partner), strconv.FormatUint(l.Sends, 10), strconv.FormatUint(l.Out, 10),
				words.Decimal(ratio(float64(l.Out), float64(l.Sends)), 0, 1), jobShare(float64(l.Out), float64(x.Bytes))+"%")
		}
		tab.write(t)
		if more := x.Pairs - len(heaviest); more > 0 {
			t.sentence("%s more in the csv format.", words.Plural(more, "pair"))
		}
		t.printf("\n")
	}
	for _, u := range x.Unknown {
		t.sentence("Not in the table: %s (%s sent, %s; %d received, %s).", u.Why, words.Plural(int(u.Sends), "message"), words.Plural(int(u.Out), "byte"),
			u.Recvs, words.Plural(int(u.In), "byte"))
	}
	t.sizes(x.Sizes)
}

// otherRanks is a number of other ranks, or the least and the most.
func otherRanks(least, most int64) string {
	if most == 1 {
		return span(least, most) + " other"
	}
	return span(least, most) + " others"
}

func were(n uint64) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// sizes writes the numbers of messages by size.
func (t *jobText) sizes(z *profile.BySize) {
	if z == nil {
		return
	}
	t.sentence("Messages by size. Of collective operations the size is that of what goes to or comes from one process; of " +
		"those with an array of counts, the array's sum.")
	tab := table{head: []string{"bytes", "sent", "received", "collective"}}
	at := func(z profile.Sizes, i int) uint64 {
		if i < len(z) {
			return z[i]
		}
		return 0
	}
	for i := range max(len(z.Sent), len(z.Received), len(z.Moved)) {
		sent, received, moved := at(z.Sent, i), at(z.Received, i), at(z.Moved, i)
		if sent+received+moved > 0 {
			tab.add(sizeText(i), strconv.FormatUint(sent, 10), strconv.FormatUint(received, 10), strconv.FormatUint(moved, 10))
		}
	}
	tab.write(t)
	t.printf("\n")
}

// sizeText names the sizes that an element of profile.Sizes counts.
func sizeText(i int) string {
	if i < 2 {
		return strconv.Itoa(i)
	}
	return fmt.Sprintf("%d to %d", profile.Least(i), profile.Least(i)+profile.Least(i)-1)
}

// writePartnersCSV writes one line per rank and partner.
func writePartnersCSV(w io.Writer, j *job.Job, _ report.Options) error {
	head := []string{"rank", "partner", "why_not", "local_rank", "sends", "recvs", "out_bytes", "in_bytes"}
	return writeCSV(w, head, func(yield func([]string)) {
		line := func(rank, partner, why, local string, x *profile.Exchange) {
			yield([]string{rank, partner, why, local, strconv.FormatUint(x.Sends, 10), strconv.FormatUint(x.Recvs, 10),
				strconv.FormatUint(x.Out, 10), strconv.FormatUint(x.In, 10)})
		}
		links := j.Traffic.Links
		for i := range links {
			l := &links[i]
			switch {
			case l.Partner >= 0:
				line(rankNum(l.Rank), rankNum(l.Partner), "", "", &l.Exchange)
			case l.Local == mpi.AnySource:
				line(rankNum(l.Rank), "", reason(l), "", &l.Exchange)
			default:
				line(rankNum(l.Rank), "", reason(l), rankNum(int(l.Local)), &l.Exchange)
			}
		}
		if x := j.Traffic.Others; x != (profile.Exchange{}) {
			line("", "", "partners beyond those that are held of each rank", "", &x)
		}
	})
}

// writeSizesCSV writes one line per MPI call site, direction and size.
func writeSizesCSV(w io.Writer, j *job.Job, _ report.Options) error {
	head := append(slices.Clone(regionHead), "direction", "from_bytes", "to_bytes", "messages")
	return writeCSV(w, head, func(yield func([]string)) {
		for i, g := range j.Regions {
			z := g.Sizes()
			for _, d := range []struct {
				name string
				of   profile.Sizes
			}{{"sent", z.Sent}, {"received", z.Received}, {"collective", z.Moved}} {
				for k, n := range d.of {
					if n > 0 {
						most := profile.Least(k)
						if k > 0 {
							most += most - 1
						}
						yield(append(regionCells(j, i), d.name, strconv.FormatUint(profile.Least(k), 10), strconv.FormatUint(most, 10), strconv.FormatUint(n, 10)))
					}
				}
			}
		}
	})
}
