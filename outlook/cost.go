package outlook

import (
	"fmt"
	"strings"

	"ompp-attach/calibration"
	"ompp-attach/collect/target"
)

// costText says what a probe hit costs on this machine.
func costText(c *calibration.Costs) string {
	us := func(ns float64) string { return fmt.Sprintf("%.2f us", ns/1e3) }
	emulated := us(c.Emulated.Sum()) + " on an instruction that the kernel emulates,"
	if c.Jump != (calibration.Split{}) { // on x86-64, where pushes are measured by themselves
		emulated = us(c.Jump.Sum()) + " on a jump, " + us(c.Emulated.Sum()) + " on a push,"
	}
	text := fmt.Sprintf("A probe hit takes so much time of its thread here, measured just now (%s):\n  %s %s on a call,\n  %s on an instruction that the kernel has to single-step;\n  %s more if the function's return is probed, too.\n",
		c.Mode, emulated, us(c.Call.Sum()), us(c.SingleStep.Sum()), us(c.Return.Sum()))
	if w := c.Crowd; w.Threads > 0 {
		text += fmt.Sprintf("These are hits of one thread. A hit that writes no record takes %s of one thread,\nand %s of each of %d threads that hit probes at once.\n", us(w.Alone), us(w.Each), w.Threads)
	}
	return text
}

// Prediction says what measuring a process would cost.
func Prediction(in *target.Inspection) string {
	c, err := calibration.MeasureAlone()
	if err != nil {
		return fmt.Sprintf("What measuring would cost is not known: %v.\n", err)
	}
	var b strings.Builder
	b.WriteString(costText(c))
	if in == nil {
		return b.String()
	}
	for _, r := range in.Runtimes {
		if len(r.Constructs) == 0 {
			continue
		}
		fmt.Fprintf(&b, "So measuring costs a thread, by constructs of %s that the process can execute:\n", r.Name)
		fmt.Fprintf(&b, "  %-16s %-20s at most, at 1000 a second\n", "", "each")
		for i := range r.Constructs {
			x := &r.Constructs[i]
			least, most := x.Cost(c)
			each := fmt.Sprintf("%.2f us", most/1e3)
			if least < most {
				each = fmt.Sprintf("%.2f to %.2f us", least/1e3, most/1e3)
			}
			fmt.Fprintf(&b, "  %-16s %-20s %.2f%% of its time\n", x.Construct, each, most*1000/1e9*100)
		}
	}
	if len(in.Runtimes) > 0 {
		b.WriteString("How often the process executes them cannot be told without probes. If probes take most of\nthe time in the first second, run and attach say so. Reports take the time of probes out.\n")
	}
	return b.String()
}
