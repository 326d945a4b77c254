package launch

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// BehindSlurm refuses to launch srun and sbatch. Programs that these start have slurmstepd as their
// parent, on any node, so nothing would be measured. The error says what to type instead. args are
// the program and its arguments, flags those of our run.
func BehindSlurm(args, flags []string) error {
	switch filepath.Base(args[0]) {
	case "srun":
		at := srunsProgram(args)
		if at == len(args) || filepath.Base(args[at]) == "ompp-attach" || args[at] == ":" {
			return nil // srun --help, or ompp-attach is behind srun already
		}
		line := slices.Concat(args[:at], []string{"ompp-attach", "run"}, flags, []string{"--"}, args[at:])
		for i := range line {
			line[i] = quoted(line[i])
		}
		return fmt.Errorf("srun lets slurmstepd start its tasks, which `run` in front of it cannot see; put it between the two: %s", strings.Join(line, " "))
	case "sbatch":
		return errors.New("sbatch only hands its script over, so nothing would be measured; write `srun ompp-attach run -- PROGRAM` into the script instead of `srun PROGRAM`")
	}
	return nil
}

// These options of srun (srun(1)) take no value from the next argument. They are flags, and options
// that have their value, if any, in the same argument.
const (
	srunFlags     = "EhHlOQsuvVXZ"
	srunLongFlags = " bcast contiguous disable-status exact exclusive help hold immediate kill-on-bad-exit label multi-prog nice no-allocate " +
		"no-kill overcommit overlap oversubscribe preserve-env propagate pty quiet quit-on-interrupt reboot resv-ports spread-job " +
		"stdin-hold test-only unbuffered usage use-min-nodes verbose version whole "
	srunOptional = "kKi"
)

// srunsProgram returns the index of the program on srun's command line, or len(args) if there is
// none.
func srunsProgram(args []string) int {
	for i := 1; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return min(i+1, len(args))
		case strings.HasPrefix(a, "--"):
			if !strings.Contains(a, "=") && !strings.Contains(srunLongFlags, " "+a[2:]+" ") {
				i++
			}
		case strings.HasPrefix(a, "-") && len(a) > 1:
			for k := 1; k < len(a); k++ {
				if strings.IndexByte(srunOptional, a[k]) >= 0 {
					break
				}
				if strings.IndexByte(srunFlags, a[k]) < 0 {
					if k == len(a)-1 {
						i++
					}
					break
				}
			}
		default:
			return i
		}
	}
	return len(args)
}

// quoted writes an argument so that a shell reads it as it is.
func quoted(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%^"
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
