package bpf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"unsafe"
)

// Record is the record of one hit; the fields' comments are in shared.h.
type Record = probeRecord

// Flags of a Record; the comments are in shared.h.
const (
	RecReturn   = uint16(probeRecordFlagREC_RETURN)
	RecFree     = uint16(probeRecordFlagREC_FREE)
	RecNoReturn = uint16(probeRecordFlagREC_NO_RETURN)
	RecInside   = uint16(probeRecordFlagREC_INSIDE)
	RecUnarmed  = uint16(probeRecordFlagREC_UNARMED)
	RecByChance = uint16(probeRecordFlagREC_BY_CHANCE)
	RecAnyway   = uint16(probeRecordFlagREC_ANYWAY)
	RecSeldom   = uint16(probeRecordFlagREC_SELDOM)

	recUncounted = uint16(probeRecordFlagREC_UNCOUNTED)
	recCounters  = uint16(probeRecordFlagREC_COUNTERS)
)

// ErrShortRecord says that a ring entry is not a whole record: the kernel object and this program
// are of different builds.
var ErrShortRecord = errors.New("record of unexpected size")

// decode copies a ring entry into a struct of the same size.
func decode[T any](b []byte, r *T) error {
	if len(b) != int(unsafe.Sizeof(*r)) {
		return fmt.Errorf("%w: %d bytes", ErrShortRecord, len(b))
	}
	// The writer is the same machine, so the byte order is the same; the slice may be unaligned.
	copy(unsafe.Slice((*byte)(unsafe.Pointer(r)), unsafe.Sizeof(*r)), b)
	return nil
}

// MPIRecord is one call of an MPI operation; the fields' comments are in shared.h.
type MPIRecord struct {
	mpiMpiRecord
	// For calls by a language binding: the frame pointer and the stack at the call's return, so
	// that the binding's caller can be found. Stack begins at StackAt. For other calls it is nil.
	BP    uint64
	Stack []byte
}

// StackAt returns the address of Stack's first byte. On amd64 the return address is no longer on
// top of the stack.
func (r *MPIRecord) StackAt() uint64 {
	if runtime.GOARCH == "amd64" {
		return r.Sp + 8
	}
	return r.Sp
}

// Flags of an MPIRecord; the comments are in shared.h.
const (
	MPIUnfinished  = uint16(mpiMpiFlagMPI_UNFINISHED)
	MPIStarted     = uint16(mpiMpiFlagMPI_STARTED)
	MPIUnreadSend  = uint16(mpiMpiFlagMPI_UNREAD_SEND)
	MPIUnreadRecv  = uint16(mpiMpiFlagMPI_UNREAD_RECV)
	MPIUnreadComm  = uint16(mpiMpiFlagMPI_UNREAD_COMM)
	MPIInPlaceSend = uint16(mpiMpiFlagMPI_IN_PLACE_SEND)
	MPIInPlaceRecv = uint16(mpiMpiFlagMPI_IN_PLACE_RECV)
	MPIInter       = uint16(mpiMpiFlagMPI_INTER)
	MPIAsked       = uint16(mpiMpiFlagMPI_ASKED)
	MPIUnasked     = uint16(mpiMpiFlagMPI_UNASKED)
	MPICame        = uint16(mpiMpiFlagMPI_CAME)
	MPIFailed      = uint16(mpiMpiFlagMPI_FAILED)
)

// decodeMPI copies a ring entry, with a stack or without, into a record.
func decodeMPI(b []byte, r *MPIRecord) error {
	const size = int(unsafe.Sizeof(mpiMpiRecord{}))
	r.BP, r.Stack = 0, nil
	if len(b) == size {
		return decode(b, &r.mpiMpiRecord)
	}
	var s mpiMpiStackRecord
	head := min(int(unsafe.Sizeof(s)), len(b))
	if err := decode(b[:head], &s); err != nil {
		return err
	}
	r.mpiMpiRecord, r.BP, r.Stack = s.Call, s.Bp, b[head:]
	return nil
}

// flagsAt is the offset of the flags in every kind of record.
const flagsAt = unsafe.Offsetof(Record{}.Flags)

// hasCounters reports whether a ring entry is a record that counters follow.
func hasCounters(b []byte) bool {
	return len(b) > int(flagsAt)+1 && binary.NativeEndian.Uint16(b[flagsAt:])&recCounters != 0
}

// decodeCounted copies a ring entry that counters follow, without the counters. It returns some
// with the counters appended, or nil if the counters are not known.
func decodeCounted(b []byte, r *Record, some []uint64) ([]uint64, error) {
	const size = int(unsafe.Sizeof(*r))
	if len(b) < size || (len(b)-size)%8 != 0 {
		return nil, fmt.Errorf("%w: %d bytes", ErrShortRecord, len(b))
	}
	if err := decode(b[:size], r); err != nil {
		return nil, err
	}
	if r.Flags&recUncounted != 0 {
		return nil, nil
	}
	for b = b[size:]; len(b) > 0; b = b[8:] {
		some = append(some, binary.NativeEndian.Uint64(b))
	}
	return some, nil
}

// isFolded reports whether a ring entry is a record of several executions.
func isFolded(b []byte) bool {
	return len(b) >= int(unsafe.Sizeof(FoldRecord{})) && binary.NativeEndian.Uint16(b[flagsAt:])&recFolded != 0
}

// decodeFolded sets f to the counters that follow a record of several executions.
func decodeFolded(b []byte, f *FoldCounters) error {
	b = b[unsafe.Sizeof(FoldRecord{}):]
	if len(b)%16 != 0 || len(b)/16 > MaxCounters {
		return fmt.Errorf("%w: %d bytes of counters", ErrShortRecord, len(b))
	}
	f.First, f.Sum = f.first[:len(b)/16], f.sum[:len(b)/16]
	for i := range f.First {
		f.First[i] = binary.NativeEndian.Uint64(b[8*i:])
		f.Sum[i] = binary.NativeEndian.Uint64(b[len(b)/2+8*i:])
	}
	return nil
}

// FoldCounters holds the counters of several executions: the thread's when the first one began, and
// the sums over all of them. Both are empty if no counters are read.
type FoldCounters struct {
	First, Sum []uint64
	first, sum [MaxCounters]uint64
}

// Uses holds the functions that receive the records of each kind. A function may be nil if its Ring
// holds no such records.
type Uses struct {
	Record  func(*Record, []uint64) // with the thread's counters, nil if none were read
	Fold    func(*FoldRecord, *FoldCounters)
	MPI     func(*MPIRecord)
	Sample  func(*SampleRecord)
	NoCore  func(NoCore)         // may be nil in any case
	OffCore func(*OffCoreRecord) // may be nil in any case
}

// Ring reads one record ring.
type Ring struct {
	memory   *recordRing
	aside    aside
	blocked  bool
	mpi      MPIRecord
	smp      SampleRecord
	rec      Record
	fold     FoldCounters
	counters [2*MaxCounters + 1]uint64
}

// Rings opens a reader for each record ring.
func (p *Probes) Rings() ([]*Ring, error) {
	var out []*Ring
	for i := range p.numRings {
		r, err := p.mapRing(i)
		if err != nil {
			return nil, err
		}
		out = append(out, &Ring{memory: r})
	}
	return out, nil
}

// Drain hands over at most limit of the complete records, in order, and returns how many. A record
// is valid during the call only.
func (r *Ring) Drain(limit int, use *Uses) (n int, err error) {
	entry := func(b []byte) error { return r.one(b, use) }
	r.blocked = false
	if n, err = r.aside.read(limit, entry); err == nil && n < limit {
		var more int
		more, r.blocked, err = r.memory.read(limit-n, entry)
		n += more
	}
	if err != nil {
		return n, fmt.Errorf("read a record ring: %w", err)
	}
	return n, nil
}

// one hands over one record.
func (r *Ring) one(b []byte, use *Uses) error {
	switch {
	case len(b) == int(unsafe.Sizeof(Record{})):
		rec := (*Record)(unsafe.Pointer(&b[0])) // the kernel aligns entries to eight bytes
		switch {
		case rec.Flags&recNoCore == 0:
			use.Record(rec, nil)
		case use.NoCore != nil:
			use.NoCore(noCoreOf(rec))
		}
	case isOffCore(b):
		if use.OffCore != nil {
			use.OffCore((*OffCoreRecord)(unsafe.Pointer(&b[0])))
		}
	case isFolded(b):
		if err := decodeFolded(b, &r.fold); err != nil {
			return err
		}
		use.Fold((*FoldRecord)(unsafe.Pointer(&b[0])), &r.fold)
	case isSample(b):
		if err := decodeSample(b, &r.smp); err != nil {
			return err
		}
		use.Sample(&r.smp)
	case hasCounters(b):
		counters, err := decodeCounted(b, &r.rec, r.counters[:0])
		if err != nil {
			return err
		}
		use.Record(&r.rec, counters)
	default:
		if err := decodeMPI(b, &r.mpi); err != nil {
			return err
		}
		use.MPI(&r.mpi)
	}
	return nil
}

// Blocked reports whether the last Drain ended at a record that was still being written. Then later
// records in this ring, also of other threads, are not read yet.
func (r *Ring) Blocked() bool { return r.blocked }

// Close ends the reading of the ring.
func (r *Ring) Close() error { return r.memory.close() }
