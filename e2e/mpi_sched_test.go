package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"ompp-attach/internal/testbin"
	jobs "ompp-attach/job"
	"ompp-attach/page"
	"ompp-attach/report"
	reports "ompp-attach/report/jobs"
	"ompp-attach/report/words"
)

// TestSchedOfRanks: a rank that computes has lost its core to another process. The job's report,
// its JSON and its page name that process. They tell no more time than it had, and no more than the
// rank lacked, by the kernel's own account.
func TestSchedOfRanks(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("the program binds ranks to two processors")
	}
	const ranks = 2
	for _, m := range bothMPIs {
		t.Run(fmt.Sprint(m), func(t *testing.T) {
			m.Need(t)
			bin := m.Build(t, "mpi_robbed.c", testbin.Options{})
			line := m.Launch(ranks, bin, "15", "20")
			var j *jobs.Job
			var pid int
			timed(t, func() func(time.Duration) []string {
				s := run(t, options{env: m.LaunchEnv(t), flags: []string{"--sched"}}, line[0], line[1:]...)
				if s.exit != 0 {
					t.Fatalf("exit status %d: %s", s.exit, s.stderr)
				}
				var got, ready int64
				if _, err := fmt.Sscan(s.stdout, &pid, &got, &ready); err != nil || ready <= 0 {
					t.Fatalf("the program printed %q: %v", s.stdout, err)
				}
				j = readJob(t, s.ranks(t, ranks))
				i := slices.IndexFunc(j.Rivals, func(r jobs.Rival) bool { return r.PID == pid && r.Name == "rival" })
				if i < 0 {
					t.Fatalf("process %d is not named: %+v", pid, j.Rivals)
				}
				// The kernel's account of a child is as exact as its clock's ticks.
				const tick = 10 * time.Millisecond
				r := j.Rivals[i]
				// A processor that a hypervisor takes away is not in the kernel's account. So
				// there are several attempts. The rival makes a witness late, too, so no time
				// is forgiven.
				return func(time.Duration) (wrong []string) {
					most := 1.05*float64(min(got, ready)) + float64(tick)
					// Threads of the MPI library may have shared that core, too.
					if r.Rank >= 0 || r.Most != 1 || r.MostT < r.T/2 || float64(r.MostT) > most || r.MostT < min(got, ready)/20 {
						wrong = append(wrong, fmt.Sprintf("%+v; it had a core for %d ns, and rank 1 had none for %d", r, got, ready))
					}
					return wrong
				}
			})
			inFormats(t, j, pid)
		})
	}
}

// inFormats: the text and the page of a job name the processes that had cores longest, and the JSON
// names all of them. The rival is there. A busy machine may have others that had cores longer.
func inFormats(t *testing.T, j *jobs.Job, pid int) {
	t.Helper()
	var text, data, html bytes.Buffer
	for _, err := range []error{reports.WriteText(&text, j, report.Options{}), reports.WriteJSON(&data, j, report.Options{}), page.WriteJob(&html, j, report.Options{})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for what, got := range map[string]string{"text": strings.Join(strings.Fields(text.String()), " "), "page": html.String()} {
		for _, r := range j.Rivals[:min(len(j.Rivals), 5)] {
			named := strings.TrimSuffix(words.Rival(r.Name, r.PID, r.Host), ")")
			if r.Rank >= 0 {
				named = fmt.Sprintf("rank %d, ", r.Rank)
			}
			if !strings.Contains(got, named) {
				t.Errorf("the %s lacks %q", what, named)
			}
		}
	}
	var read struct {
		Rivals []struct {
			Name string
			PID  int
			Had  int64 `json:"had_ns"`
			Most int
		}
	}
	if err := json.Unmarshal(data.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	for _, r := range read.Rivals {
		if r.PID == pid && r.Name == "rival" && r.Had > 0 && r.Most == 1 {
			return
		}
	}
	t.Errorf("job.json lacks the rival: %+v", read.Rivals)
}
