package launch

import (
	"strings"
	"testing"
)

// A user who launches srun is told the command line that works.
func TestBehindSlurm(t *testing.T) {
	for _, tc := range []struct{ line, want string }{
		{"srun -n 4 ./solver input.dat", "srun -n 4 ompp-attach run -o out -- ./solver input.dat\n"},
		{"/usr/bin/srun -n4 -J test -lu --mpi=pmi2 --exclusive --ntasks-per-node 2 solver -n 3", "/usr/bin/srun -n4 -J test -lu --mpi=pmi2 --exclusive --ntasks-per-node 2 ompp-attach run -o out -- solver -n 3"},
		{"srun -K -- solver", "srun -K -- ompp-attach run -o out -- solver"},
		{"srun --pty solver a;b", "srun --pty ompp-attach run -o out -- solver 'a;b'"},
		{"sbatch job.sh", "srun ompp-attach run -- PROGRAM"},
		{"srun --version", ""},
		{"srun -n 2 ompp-attach run -- solver", ""},
		{"mpirun -n 2 solver", ""},
	} {
		args := strings.Split(tc.line, " ")
		err := BehindSlurm(args, []string{"-o", "out"})
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error()+"\n", tc.want)) {
			t.Errorf("%s: %v", tc.line, err)
		}
	}
}
