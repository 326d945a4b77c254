package testbin

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
)

// MPIRank is what testdata/truth/mpi_truth.c saw one process do.
type MPIRank struct {
	Rank, Size, PID int
	Program         string
	Sites           []MPISite
}

// MPISite is one operation called from one place by one thread. A persistent
// operation has besides its calls an entry where it is started. Pairs are by
// the naive and the minimal accounting.
type MPISite struct {
	Op      string
	Object  string // file of the caller
	Return  uint64 // return address, as in the file
	Helper  bool   // a binding's call for its own purposes: none of the user's
	Thread  int    // OpenMP thread number
	TID     int
	Calls   uint64
	Started uint64 // of a persistent operation
	NS      uint64 // in the calls

	Sends, Recvs, Colls uint64 // ompP's counters
	Out, In             [2]uint64
	Min, Max            [2]uint64 // bytes of the smallest and largest call
	Read, Written       uint64    // bytes of files

	Partners []MPIPartner
	// Messages by number of bits of their bytes; Moved: the data of collective operations.
	SentSizes     []uint64 `json:"sent"`
	ReceivedSizes []uint64 `json:"received"`
	MovedSizes    []uint64 `json:"moved"`

	File string // base name; empty without debug information
	Line int
}

// MPIPartner is what was exchanged with one process. World is its rank in MPI_COMM_WORLD, Local in
// the communicator or window; -2: MPI_ANY_SOURCE.
type MPIPartner struct {
	World, Local          int
	Inter                 bool // the communicator connects two groups
	Sends, Recvs, Out, In uint64
}

func parseRank(r io.Reader) (*MPIRank, error) {
	d := json.NewDecoder(r)
	rank := &MPIRank{}
	if err := d.Decode(rank); err != nil {
		return nil, fmt.Errorf("the process: %w", err)
	}
	for {
		var s MPISite
		err := d.Decode(&s)
		if errors.Is(err, io.EOF) {
			return rank, nil
		}
		if err != nil {
			return nil, fmt.Errorf("call site %d: %w", len(rank.Sites)+1, err)
		}
		rank.Sites = append(rank.Sites, s)
	}
}

// locate finds the lines of the program's own call sites.
func (r *MPIRank) locate() error {
	rows, err := lineRows(r.Program)
	if err != nil {
		return fmt.Errorf("lines of %s: %w", r.Program, err)
	}
	for i := range r.Sites {
		s := &r.Sites[i]
		if filepath.Base(s.Object) != filepath.Base(r.Program) {
			continue
		}
		// The call is what stands before the return address.
		n, found := slices.BinarySearchFunc(rows, s.Return-1, func(row lineRow, pc uint64) int {
			switch {
			case row.end <= pc:
				return -1
			case row.begin > pc:
				return 1
			}
			return 0
		})
		if found {
			s.File, s.Line = rows[n].file, rows[n].line
		}
	}
	return nil
}

type lineRow struct {
	begin, end uint64
	file       string
	line       int
}

// lineRows is an ELF file's line table by address; empty without one.
func lineRows(path string) ([]lineRow, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.Section(".debug_info") == nil {
		return nil, nil
	}
	d, err := f.DWARF()
	if err != nil {
		return nil, err
	}
	var rows []lineRow
	units := d.Reader()
	for {
		unit, err := units.Next()
		if err != nil {
			return nil, err
		}
		if unit == nil {
			break
		}
		units.SkipChildren()
		lines, err := d.LineReader(unit)
		if err != nil {
			return nil, err
		}
		if lines == nil {
			continue
		}
		var from, to dwarf.LineEntry
		for open := false; lines.Next(&to) == nil; open = !to.EndSequence {
			if open && to.Address > from.Address {
				rows = append(rows, lineRow{from.Address, to.Address, filepath.Base(from.File.Name), from.Line})
			}
			from = to
		}
	}
	slices.SortFunc(rows, func(a, b lineRow) int {
		if a.begin < b.begin {
			return -1
		}
		return 1
	})
	return rows, nil
}
