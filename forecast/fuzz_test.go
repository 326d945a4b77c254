package forecast

import (
	"bytes"
	"testing"

	"ompp-attach/signature"
)

// FuzzSignature: whatever a file of a signature holds, it is refused, or makes a prediction.
func FuzzSignature(f *testing.F) {
	for _, r := range []Run{cannon(1, 1), cannon(4, 2)} {
		r.Version = signature.Version
		var b bytes.Buffer
		if err := r.Write(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := signature.Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		for _, o := range []Options{{Cores: 4}, {Cores: 4, Weak: true, System: machine()}} {
			x, err := New([]Run{{"a", s}, cannon(2, 1)}, nil, o)
			if err != nil {
				return
			}
			x.Advice(x.Cells())
			x.Assumptions()
			x.Compare()
		}
	})
}
