package symbols

import (
	"crypto/sha256"
	"io"
)

// Digest returns a checksum by which files with different contents differ. ok is false if the file
// has more than most bytes, or cannot be read.
func (o *Object) Digest(most int64) (sum [sha256.Size]byte, ok bool) {
	if o.size > most {
		return sum, false
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(o.r, 0, o.size)); err != nil {
		return sum, false
	}
	return [sha256.Size]byte(h.Sum(nil)), true
}
