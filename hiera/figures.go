package hiera

import (
	"math"
	"math/bits"
)

// Figures sum up operations.
type Figures struct {
	Count uint64 // executions
	Time  int64  // ns, operations inside included
	// Exclusive is the part of Time outside of inner operations, ns.
	Exclusive int64
	// Single is the number of executions with known times of their own. Min, Max, the deviation and
	// Durations are those of these executions.
	Single    uint64
	Min, Max  int64 // ns
	Durations Bins  // ns

	// Sized is the number of executions that moved a known number of bytes, and Bytes their sum.
	Sized uint64
	Bytes uint64
	Sizes Bins // bytes

	mean, m2 float64 // of the single times (Welford)
}

// Bins count values by their powers of two: element 0 counts zeros, and element i counts values of
// at least 2^(i-1) and below 2^i.
type Bins []uint64

// Count counts n times a value.
func (b *Bins) Count(value, n uint64) {
	i := bits.Len64(value)
	for len(*b) <= i {
		*b = append(*b, 0)
	}
	(*b)[i] += n
}

func (b *Bins) add(o Bins) {
	for len(*b) < len(o) {
		*b = append(*b, 0)
	}
	for i, n := range o {
		(*b)[i] += n
	}
}

// one adds a single execution.
func (f *Figures) one(time, exclusive, bytes int64) {
	f.Count++
	f.Time += time
	f.Exclusive += exclusive
	if f.Single == 0 {
		f.Min, f.Max = time, time
	}
	f.Min, f.Max = min(f.Min, time), max(f.Max, time)
	f.Single++
	d := float64(time) - f.mean
	f.mean += d / float64(f.Single)
	f.m2 += d * (float64(time) - f.mean)
	f.Durations.Count(uint64(max(0, time)), 1)
	if bytes >= 0 {
		f.Sized++
		f.Bytes += uint64(bytes)
		f.Sizes.Count(uint64(bytes), 1)
	}
}

// Add adds the figures of other operations.
func (f *Figures) Add(o *Figures) {
	if o.Single > 0 {
		if f.Single == 0 {
			f.Min, f.Max = o.Min, o.Max
		}
		f.Min, f.Max = min(f.Min, o.Min), max(f.Max, o.Max)
		all := float64(f.Single + o.Single)
		d := o.mean - f.mean
		f.m2 += o.m2 + d*d*float64(f.Single)*float64(o.Single)/all
		f.mean += d * float64(o.Single) / all
		f.Single += o.Single
	}
	f.Count += o.Count
	f.Time += o.Time
	f.Exclusive += o.Exclusive
	f.Durations.add(o.Durations)
	f.Sized += o.Sized
	f.Bytes += o.Bytes
	f.Sizes.add(o.Sizes)
}

// Mean returns the average time of an execution, ns; 0 if there was none.
func (f *Figures) Mean() float64 {
	if f.Count == 0 {
		return 0
	}
	return float64(f.Time) / float64(f.Count)
}

// Deviation returns the standard deviation of the executions' times, ns. ok is false unless the
// time of every execution is known.
func (f *Figures) Deviation() (ns float64, ok bool) {
	if f.Single == 0 || f.Single != f.Count {
		return 0, false
	}
	return math.Sqrt(max(0, f.m2) / float64(f.Single)), true
}
