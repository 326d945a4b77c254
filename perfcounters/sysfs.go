package perfcounters

import (
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Machine reads what the kernel tells of its counting units, below the directory
// /sys/bus/event_source/devices (Documentation/ABI/testing/sysfs-bus-event_source-devices-events
// and -format).
type Machine struct{ devices fs.FS }

// NewMachine returns a Machine for the units below a directory, normally
// os.DirFS("/sys/bus/event_source/devices").
func NewMachine(devices fs.FS) Machine { return Machine{devices} }

func (m Machine) read(name string) (string, error) {
	b, err := fs.ReadFile(m.devices, name)
	return strings.TrimSpace(string(b)), err
}

// Units returns the names of the counting units, sorted.
func (m Machine) Units() []string {
	entries, _ := fs.ReadDir(m.devices, ".")
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// core tells whether a unit belongs to the processor cores, so that it can count for one thread.
// Units of a whole socket have a cpumask. They cannot tell for which thread they count events.
func (m Machine) core(unit string) bool {
	_, err := fs.Stat(m.devices, path.Join(unit, "cpumask"))
	return errors.Is(err, fs.ErrNotExist)
}

// HasHardware tells whether the machine has the processor's own counters.
func (m Machine) HasHardware() bool {
	return slices.ContainsFunc(m.Units(), func(u string) bool { return m.isCPU(u) })
}

// isCPU tells whether a unit is that of the cores: cpu (x86), cpu_core and cpu_atom (hybrid x86),
// armv8_pmuv3 and similar names (arm64).
func (m Machine) isCPU(unit string) bool {
	if unit == "cpu" || strings.HasPrefix(unit, "cpu_") || strings.HasPrefix(unit, "armv8_") || strings.HasPrefix(unit, "armv9_") {
		return m.core(unit)
	}
	return false
}

// Events returns the events of a unit that sysfs names, sorted.
func (m Machine) Events(unit string) []Counter {
	entries, _ := fs.ReadDir(m.devices, path.Join(unit, "events"))
	var out []Counter
	for _, e := range entries {
		name := e.Name()
		if strings.Contains(name, ".") { // NAME.scale, NAME.unit
			continue
		}
		if c, err := m.event(unit, name); err == nil {
			out = append(out, c)
		}
	}
	return out
}

// event returns the counter of an event that sysfs names.
func (m Machine) event(unit, name string) (Counter, error) {
	terms, err := m.read(path.Join(unit, "events", name))
	if err != nil {
		return Counter{}, fmt.Errorf("%w %s of unit %s", ErrUnknown, name, unit)
	}
	c, err := m.fromTerms(unit, terms)
	if err != nil {
		return c, err
	}
	c.Name = name
	if s, err := m.read(path.Join(unit, "events", name+".scale")); err == nil {
		c.Scale, _ = strconv.ParseFloat(s, 64)
	}
	c.Unit, _ = m.read(path.Join(unit, "events", name+".unit"))
	return c, nil
}

// fromTerms returns the counter of terms such as "event=0x3c,umask=0x00,any". The unit's format in
// sysfs says to which bits each term belongs.
func (m Machine) fromTerms(unit, terms string) (Counter, error) {
	typ, err := m.read(path.Join(unit, "type"))
	if err != nil {
		return Counter{}, fmt.Errorf("%w: there is no unit %s here%s", ErrUnknown, unit, offer(unit, m.Units()))
	}
	t, err := strconv.ParseUint(typ, 10, 32)
	if err != nil {
		return Counter{}, fmt.Errorf("unit %s has no valid type: %w", unit, err)
	}
	c := Counter{PMU: unit, Type: uint32(t)}
	if !m.core(unit) {
		return c, fmt.Errorf("unit %s counts for a whole socket: it cannot tell which thread's events they are", unit)
	}
	for term := range strings.SplitSeq(terms, ",") {
		key, value, has := strings.Cut(strings.TrimSpace(term), "=")
		if key == "" {
			continue
		}
		v := uint64(1)
		if has {
			if v, err = strconv.ParseUint(value, 0, 64); err != nil {
				return c, fmt.Errorf("%s of unit %s: %q is no number", key, unit, value)
			}
		}
		if err := m.set(&c, unit, key, v); err != nil {
			return c, err
		}
	}
	return c, nil
}

// set stores a term's value in its bits of c's configuration.
func (m Machine) set(c *Counter, unit, key string, v uint64) error {
	field := map[string]*uint64{"config": &c.Config, "config1": &c.Config1, "config2": &c.Config2}
	if f := field[key]; f != nil {
		*f |= v
		return nil
	}
	format, err := m.read(path.Join(unit, "format", key))
	if err != nil {
		names, _ := fs.ReadDir(m.devices, path.Join(unit, "format"))
		var known []string
		for _, n := range names {
			known = append(known, n.Name())
		}
		return fmt.Errorf("unit %s has no term %q%s", unit, key, offer(key, known))
	}
	where, places, _ := strings.Cut(format, ":")
	f := field[where]
	if f == nil {
		return fmt.Errorf("unit %s: term %q lies in %s, which this program does not know", unit, key, where)
	}
	mask, err := placesMask(places)
	if err != nil {
		return fmt.Errorf("unit %s: the format of %q is not valid: %w", unit, key, err)
	}
	if n := bits.OnesCount64(mask); n < 64 && v>>n != 0 {
		return fmt.Errorf("%s=%#x does not fit: it has %d bits in unit %s", key, v, n, unit)
	}
	*f |= deposit(v, mask)
	return nil
}

// placesMask returns the mask of a list of bits such as "0-7,21".
func placesMask(s string) (mask uint64, err error) {
	for part := range strings.SplitSeq(s, ",") {
		lo, hi, isRange := strings.Cut(part, "-")
		a, err := strconv.ParseUint(lo, 10, 8)
		b := a
		if err == nil && isRange {
			b, err = strconv.ParseUint(hi, 10, 8)
		}
		if err != nil || a > b || b > 63 {
			return 0, fmt.Errorf("%q", s)
		}
		mask |= (1<<(b-a) - 1 | 1<<(b-a)) << a
	}
	return mask, nil
}

// deposit spreads the low bits of v over the bits of mask, lowest first.
func deposit(v, mask uint64) (out uint64) {
	for ; mask != 0; mask &= mask - 1 {
		if v&1 != 0 {
			out |= mask & -mask
		}
		v >>= 1
	}
	return out
}
