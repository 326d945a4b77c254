package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"ompp-attach/bench/baseline"
)

// pattern is a way to measure a construct by entry and return probes of calls,
// as one would write it down in a script.
type pattern int

const (
	whole pattern = iota // a call: executions, and the time in it
	mutex                // start and end: waiting, body, leaving
	work                 // start and end: body, barrier at the end
	until                // start, and the call that ends it by returning 0: body
)

// calls are those that a construct makes.
type calls struct {
	pattern    pattern
	start, end string
}

// scripts names the calls of each operation by runtime. A static loop of GCC's
// makes no call but its barrier's, so no script sees more of it.
var scripts = map[string]map[string][]calls{
	"libgomp": {
		"region":    {{whole, "GOMP_parallel", ""}},
		"barrier":   {{whole, "GOMP_barrier", ""}},
		"single":    {{whole, "GOMP_single_start", ""}, {whole, "GOMP_barrier", ""}},
		"static":    {{whole, "GOMP_barrier", ""}},
		"dynamic":   {{work, "GOMP_loop_nonmonotonic_dynamic_start", "GOMP_loop_end"}},
		"reduction": {{mutex, "GOMP_atomic_start", "GOMP_atomic_end"}, {whole, "GOMP_barrier", ""}},
		"sections":  {{work, "GOMP_sections_start", "GOMP_sections_end"}},
		"critical":  {{mutex, "GOMP_critical_start", "GOMP_critical_end"}},
		"named":     {{mutex, "GOMP_critical_name_start", "GOMP_critical_name_end"}},
		"lock":      {{mutex, "omp_set_lock", "omp_unset_lock"}},
		"atomic":    {{mutex, "GOMP_atomic_start", "GOMP_atomic_end"}},
		"ordered":   {{mutex, "GOMP_ordered_start", "GOMP_ordered_end"}, {work, "GOMP_loop_ordered_static_start", "GOMP_loop_end"}},
		"task":      {{whole, "GOMP_task", ""}, {whole, "GOMP_taskwait", ""}},
		"taskwait":  {{whole, "GOMP_taskwait", ""}},
	},
	"libomp": {
		"region":    {{whole, "__kmpc_fork_call", ""}},
		"barrier":   {{whole, "__kmpc_barrier", ""}},
		"single":    {{whole, "__kmpc_single", ""}, {whole, "__kmpc_barrier", ""}},
		"static":    {{work, "__kmpc_for_static_init_4", "__kmpc_for_static_fini"}, {whole, "__kmpc_barrier", ""}},
		"dynamic":   {{until, "__kmpc_dispatch_init_4", "__kmpc_dispatch_next_4"}, {whole, "__kmpc_barrier", ""}},
		"reduction": {{work, "__kmpc_for_static_init_4", "__kmpc_for_static_fini"}, {whole, "__kmpc_reduce", ""}, {whole, "__kmpc_end_reduce", ""}, {whole, "__kmpc_reduce_nowait", ""}, {whole, "__kmpc_end_reduce_nowait", ""}, {whole, "__kmpc_barrier", ""}},
		"sections":  {{work, "__kmpc_for_static_init_4", "__kmpc_for_static_fini"}, {whole, "__kmpc_barrier", ""}},
		"critical":  {{mutex, "__kmpc_critical", "__kmpc_end_critical"}},
		"lock":      {{mutex, "omp_set_lock", "omp_unset_lock"}},
		"ordered":   {{mutex, "__kmpc_ordered", "__kmpc_end_ordered"}, {until, "__kmpc_dispatch_init_4", "__kmpc_dispatch_next_4"}, {whole, "__kmpc_barrier", ""}},
		"task":      {{whole, "__kmpc_omp_task", ""}, {whole, "__kmpc_omp_taskwait", ""}},
		"taskwait":  {{whole, "__kmpc_omp_taskwait", ""}},
	},
}

// bpftraceScript is a script that keeps, per thread and call site, the columns
// that a report has of the operations' constructs. The probes are at the
// functions' names, as one places them. It returns "" if the process has none of
// the runtimes that scripts are known for.
func bpftraceScript(runtime string, ops group, placed []baseline.Placed) string {
	var all []calls
	for mode, c := range scripts[runtime] {
		if ops.has(mode) {
			all = append(all, c...)
		}
	}
	library := runtimeFile(runtime, placed)
	if library == "" || len(all) == 0 {
		return ""
	}
	return scriptOf(all, library)
}

// runtimeFile is the library that the tool has placed probes in.
func runtimeFile(runtime string, placed []baseline.Placed) string {
	for _, p := range placed {
		if strings.HasPrefix(filepath.Base(p.Path), runtime) {
			return p.Path
		}
	}
	return ""
}

func scriptOf(all []calls, library string) string {
	var b strings.Builder
	b.WriteString("BEGIN { printf(\"attached\\n\"); }\n")
	seen := map[calls]bool{}
	for _, c := range all {
		if seen[c] {
			continue
		}
		seen[c] = true
		text := templates[c.pattern]
		text = strings.NewReplacer("LIBRARY", library, "START", c.start, "END", c.end).Replace(text)
		b.WriteString(text)
	}
	return b.String()
}

// templates measure each pattern: START and END stand for the calls. Times are
// kept by thread, sums by thread and the call's return address.
var templates = map[pattern]string{
	whole: `
uprobe:LIBRARY:START { @at_START[tid] = nsecs; @site_START[tid] = *(uint64 *)reg("sp"); }
uretprobe:LIBRARY:START /@at_START[tid]/ {
	@execT_START[tid, @site_START[tid]] = sum(nsecs - @at_START[tid]);
	@execC_START[tid, @site_START[tid]] = count();
	delete(@at_START[tid]);
}
`,
	mutex: `
uprobe:LIBRARY:START { @at_START[tid] = nsecs; @site_START[tid] = *(uint64 *)reg("sp"); }
uretprobe:LIBRARY:START /@at_START[tid]/ {
	@enterT_START[tid, @site_START[tid]] = sum(nsecs - @at_START[tid]);
	@execC_START[tid, @site_START[tid]] = count();
	@in_START[tid] = nsecs;
}
uprobe:LIBRARY:END /@in_START[tid]/ {
	@bodyT_START[tid, @site_START[tid]] = sum(nsecs - @in_START[tid]);
	@in_START[tid] = nsecs;
}
uretprobe:LIBRARY:END /@in_START[tid]/ {
	@exitT_START[tid, @site_START[tid]] = sum(nsecs - @in_START[tid]);
	@execT_START[tid, @site_START[tid]] = sum(nsecs - @at_START[tid]);
	delete(@in_START[tid]);
}
`,
	work: `
uprobe:LIBRARY:START { @at_START[tid] = nsecs; @site_START[tid] = *(uint64 *)reg("sp"); }
uprobe:LIBRARY:END /@at_START[tid]/ {
	@bodyT_START[tid, @site_START[tid]] = sum(nsecs - @at_START[tid]);
	@execC_START[tid, @site_START[tid]] = count();
	@out_START[tid] = nsecs;
}
uretprobe:LIBRARY:END /@out_START[tid]/ {
	@exitBarT_START[tid, @site_START[tid]] = sum(nsecs - @out_START[tid]);
	@execT_START[tid, @site_START[tid]] = sum(nsecs - @at_START[tid]);
	delete(@at_START[tid]); delete(@out_START[tid]);
}
`,
	until: `
uprobe:LIBRARY:START { @at_START[tid] = nsecs; @site_START[tid] = *(uint64 *)reg("sp"); }
uretprobe:LIBRARY:END /retval == 0 && @at_START[tid]/ {
	@bodyT_START[tid, @site_START[tid]] = sum(nsecs - @at_START[tid]);
	@execC_START[tid, @site_START[tid]] = count();
	delete(@at_START[tid]);
}
`,
}

func startBpftrace(pid int, script string) (func() error, error) {
	cmd := exec.Command("bpftrace", "-p", strconv.Itoa(pid), "-e", script)
	end, err := startUntil(cmd, cmd.StdoutPipe, func(line string) bool { return strings.Contains(line, "attached") })
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, script)
	}
	return end, nil
}

// have tells whether a command is installed.
func have(command string) bool {
	_, err := exec.LookPath(command)
	return err == nil
}
