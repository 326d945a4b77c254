package e2e

import (
	"testing"

	"ompp-attach/attribution"
)

func checkHotLines(t *testing.T, p *attribution.Profile) {}
