package severity

import (
	"cmp"

	"ompp-attach/analysis"
)

// unevenAdvice has where to look for the cause, and what helps, by the reason for which threads
// wait. Where a text is empty, that of the property holds.
var unevenAdvice = [...]struct{ diagnosis, helps string }{
	analysis.Starved: {helps: "Some threads had next to nothing to do here. If the loop has fewer iterations than threads, or one with most of the work, no schedule helps: " +
		"collapse nested loops, share out the work inside of iterations, or use fewer threads. If neighbouring iterations have the work, use smaller chunks."},
	// The program's work may be even.
	analysis.Coreless: {"The threads that others wait for were ready to run, but had no core for most of that time: see " + analysis.WaitForCore + ".",
		"Dividing the work otherwise does not mend this: give each thread a core. What helps against " + analysis.WaitForCore + " helps here."},
	analysis.Late: {"Threads that wait least began last, and the others wait for them: compare startupT of the threads.",
		"Dividing the work otherwise does not help: the region is short for the time in which all threads begin. Make parallel regions longer: join " +
			"neighbouring ones, and parallelise outer loops. If each thread has a core, let threads wait actively between regions (OMP_WAIT_POLICY=active)."},
	// What the threads did before is uneven.
	analysis.Behind: {"Threads that wait least came last to the construct, and the others wait for them: see what these threads did before it.",
		"Balance the work before the construct. It differs more between the threads than the work in the construct does. A loop with schedule(dynamic) hides that, if it is " +
			"long enough: threads that come early take iterations from the others."},
}

// Helps returns what helps against a finding.
func (c *Cube) Helps(f *Finding) string {
	switch id := c.Properties[f.Property].ID; {
	case id == NoCore && len(c.Crowds) > 0:
		return analysis.CrowdText(c.Crowds, len(c.Processes) > 1) + "."
	case id == TeamEnd && c.UnevenAt(f) != 0:
		return "Longer regions do not mend this: give each thread a core. What helps against " + analysis.WaitForCore + " helps here."
	}
	return cmp.Or(unevenAdvice[c.UnevenAt(f)].helps, c.Properties[f.Property].Helps)
}

// Diagnosis returns where to look for the cause of a finding.
func (c *Cube) Diagnosis(f *Finding) string {
	return cmp.Or(unevenAdvice[c.UnevenAt(f)].diagnosis, c.Properties[f.Property].Diagnosis)
}

// UnevenAt returns why threads waited, if a finding is about uneven threads of its region, or about
// the end of its teams.
func (c *Cube) UnevenAt(f *Finding) analysis.Uneven {
	p := &c.Properties[f.Property]
	if p.ID == TeamEnd {
		return c.Ends[c.Paths[f.Path].Region].Why()
	}
	if p.Gain != Balance || p.OmpP != "" && !analysis.HasUneven(p.OmpP) {
		return 0
	}
	return c.Uneven[c.Paths[f.Path].Region].Why()
}
