package severity

import "ompp-attach/analysis"

// helpsStarved is what helps loops that leave threads without work. Another schedule may not.
const helpsStarved = "Some threads had next to nothing to do here. If the loop has fewer iterations than threads, or one with most of the work, no schedule helps: " +
	"collapse nested loops, share out the work inside of iterations, or use fewer threads. If neighbouring iterations have the work, use smaller chunks."

// Where threads wait for threads that began late, dividing the work otherwise does not help.
const (
	diagnosisLate = "Threads that wait least began last, and the others wait for them: compare startupT of the threads."
	helpsLate     = "Dividing the work otherwise does not help: the region is short for the time in which all threads begin. Make parallel regions longer: join " +
		"neighbouring ones, and parallelise outer loops. If each thread has a core, let threads wait actively between regions (OMP_WAIT_POLICY=active)."
)

// Where threads wait for threads that had no core, the program's work may be even.
const (
	diagnosisCoreless = "The threads that others wait for were ready to run, but had no core for most of that time: see " + analysis.WaitForCore + "."
	helpsCoreless     = "Dividing the work otherwise does not mend this: give each thread a core. What helps against " + analysis.WaitForCore + " helps here."
)

// Where threads come to a construct at different times, what they did before is uneven.
const (
	diagnosisBehind = "Threads that wait least came last to the construct, and the others wait for them: see what these threads did before it."
	helpsBehind     = "Balance the work before the construct. It differs more between the threads than the work in the construct does. A loop with schedule(dynamic) hides that, if it is " +
		"long enough: threads that come early take iterations from the others."
)

// Helps returns what helps against a finding.
func (c *Cube) Helps(f *Finding) string {
	if c.Properties[f.Property].ID == NoCore && len(c.Crowds) > 0 {
		return analysis.CrowdText(c.Crowds, len(c.Processes) > 1) + "."
	}
	switch c.UnevenAt(f) {
	case analysis.Starved:
		return helpsStarved
	case analysis.Coreless:
		return helpsCoreless
	case analysis.Late:
		return helpsLate
	case analysis.Behind:
		return helpsBehind
	}
	return c.Properties[f.Property].Helps
}

// Diagnosis returns where to look for the cause of a finding.
func (c *Cube) Diagnosis(f *Finding) string {
	switch c.UnevenAt(f) {
	case analysis.Coreless:
		return diagnosisCoreless
	case analysis.Late:
		return diagnosisLate
	case analysis.Behind:
		return diagnosisBehind
	}
	return c.Properties[f.Property].Diagnosis
}

// UnevenAt returns why threads waited, if a finding is about uneven threads of its region.
func (c *Cube) UnevenAt(f *Finding) analysis.Uneven {
	p := &c.Properties[f.Property]
	if p.Gain != Balance || p.OmpP != "" && !analysis.HasUneven(p.OmpP) {
		return 0
	}
	return c.Uneven[c.Paths[f.Path].Region].Why()
}
