package bpf

//go:generate go tool bpf2go -cc ${BPF_CLANG} -tags linux -target amd64,arm64 -type row -type record -type fold_record -type source -type row_flag -type record_flag -type counter_source -type ring -type piece probe probe.bpf.c -- -I. -idirafter ${BPF_ASM} -Wall -Werror
//go:generate go tool bpf2go -cc ${BPF_CLANG} -tags linux -target amd64,arm64 -type life -type life_kind -type follow_flag -type file_is -type file_key -type program -type stop follow follow.bpf.c -- -I. -idirafter ${BPF_ASM} -Wall -Werror
//go:generate go tool bpf2go -cc ${BPF_CLANG} -tags linux -target amd64,arm64 -type mpi_row -type mpi_record -type mpi_stack_record -type mpi_library -type mpi_what -type mpi_row_flag -type mpi_flag -type mpi_wrappers -type mpi_key -type mpi_degrees mpi mpi.bpf.c -- -I. -idirafter ${BPF_ASM} -Wall -Werror
//go:generate go tool bpf2go -cc ${BPF_CLANG} -tags linux -target amd64,arm64 -type sample_record -type sample_flag -type sampled sample sample.bpf.c -- -I. -idirafter ${BPF_ASM} -Wall -Werror
//go:generate go tool bpf2go -cc ${BPF_CLANG} -tags linux -target amd64,arm64 -type away_record -type away_flag -type watched sched sched.bpf.c -- -I. -idirafter ${BPF_ASM} -Wall -Werror
