package perfcounters

import (
	"fmt"
	"maps"
	"slices"
)

// presets are PAPI's preset events that one of perf's generic events counts as well (PAPI 7,
// papi_common_strings.h and papi_events.csv). Derived presets, which combine several events, are
// left to formulas. Presets are left out if the generic event counts only a part of them, or
// something else on some processors.
var presets = map[string]string{
	"PAPI_TOT_CYC": "cycles",
	"PAPI_REF_CYC": "ref-cycles",
	"PAPI_TOT_INS": "instructions",
	"PAPI_BR_INS":  "branches",
	"PAPI_BR_MSP":  "branch-misses",
	"PAPI_L1_LDM":  "L1-dcache-load-misses",
	"PAPI_L1_STM":  "L1-dcache-store-misses",
	"PAPI_L1_DCR":  "L1-dcache-loads",
	"PAPI_L1_DCW":  "L1-dcache-stores",
	"PAPI_LD_INS":  "L1-dcache-loads",
	"PAPI_SR_INS":  "L1-dcache-stores",
	"PAPI_L1_ICM":  "L1-icache-load-misses",
	"PAPI_L3_LDM":  "LLC-load-misses",
	"PAPI_L3_DCR":  "LLC-loads",
	"PAPI_TLB_IM":  "iTLB-load-misses",
	"PAPI_RES_STL": "stalled-cycles-backend",
}

// unitPresets are the presets that only events of one unit count, by unit.
var unitPresets = map[string]map[string]string{
	// Arm Architecture Reference Manual, PMUv3 event numbers.
	"armv8_pmuv3": {
		"PAPI_L2_DCM": "event=0x17", // L2D_CACHE_REFILL
		"PAPI_L2_DCA": "event=0x16", // L2D_CACHE
		"PAPI_L1_DCA": "event=0x04", // L1D_CACHE
	},
}

// preset returns the counter of a PAPI preset.
func (m Machine) preset(name string) (Counter, error) {
	if generic, ok := presets[name]; ok {
		c, _ := named(generic)
		c.Description = "PAPI preset: " + c.Description
		return c, nil
	}
	for _, unit := range m.Units() {
		if terms, ok := unitPresets[unit][name]; ok {
			c, err := m.fromTerms(unit, terms)
			c.Description = "PAPI preset"
			return c, err
		}
	}
	return Counter{}, fmt.Errorf("%w %s: no event of this machine counts that preset%s; name the event itself (cpu/event=...,umask=.../)",
		ErrUnknown, name, offer(name, slices.Collect(maps.Keys(presets))))
}
