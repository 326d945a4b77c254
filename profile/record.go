package profile

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"ompp-attach/event"
)

// Errors about a recorded profile. The errors that Decode and Encode return wrap one of these and
// add the details.
var (
	// ErrNotProfile: the data is something else, or damaged.
	ErrNotProfile = errors.New("not a recorded ompp-attach profile")
	// ErrTruncated: the data ends before the profile does.
	ErrTruncated = errors.New("the recorded profile is truncated")
	// ErrNewerVersion: a newer ompp-attach wrote the profile, and this version would misread
	// it.
	ErrNewerVersion = errors.New("the recorded profile was made by a newer ompp-attach")
)

// maxRecord bounds the uncompressed size that Decode accepts (bytes): otherwise a few kilobytes of
// gzip could unpack to more than the machine's memory.
const maxRecord = 4 << 30

// Encode writes p as a recorded profile: one gzip member with one JSON object, whose fields are
// those of Profile. Nothing is left out or rounded. Only names that are not UTF-8 are written in
// the form of Pasteable. The version in the file is always SchemaVersion, because that is the
// schema of this package's types. Encode fails on a profile that Decode would refuse (see
// Validate), and on errors of w.
func Encode(w io.Writer, p *Profile) error {
	if err := Validate(p); err != nil {
		return fmt.Errorf("encode profile: %w", err)
	}
	out := recordable(p)
	out.Version = SchemaVersion
	zw := gzip.NewWriter(w)
	enc := json.NewEncoder(zw)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return fmt.Errorf("encode profile: %w", err)
	}
	if err := zw.Close(); err != nil {
		return fmt.Errorf("encode profile: %w", err)
	}
	return nil
}

// Decode reads a profile that Encode wrote. It validates the profile, so that its users may follow
// every index without checks. Unknown fields are skipped: a version that must not be misread has a
// higher number. The error is one sentence. It wraps ErrNotProfile, ErrTruncated or
// ErrNewerVersion, or is the error of r.
func Decode(r io.Reader) (*Profile, error) {
	data, err := unpackRecord(r)
	if err != nil {
		return nil, err
	}
	p, err := decodeOwn(data)
	if err != nil {
		p, err = decodeAny(data)
	}
	if err != nil {
		return nil, err
	}
	if err := Validate(p); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotProfile, err)
	}
	if pathsTooLong(p) {
		return nil, fmt.Errorf("%w: its regions are nested too deep", ErrNotProfile)
	}
	return p, nil
}

// decodeOwn reads a profile of this version in one pass over the text: Encode writes the version
// first. If the text states the version again, the last one counts, as in JSON. Only decodeAny can
// tell what an error means.
func decodeOwn(data []byte) (*Profile, error) {
	if !bytes.HasPrefix(data, ownVersion) {
		return nil, ErrNotProfile
	}
	p := new(Profile)
	if err := json.Unmarshal(data, p); err != nil {
		return nil, err
	}
	if p.Version != SchemaVersion {
		return nil, ErrNotProfile
	}
	return p, nil
}

var ownVersion = fmt.Appendf(nil, `{"version":%d,`, SchemaVersion)

// decodeAny reads any recorded profile, in two passes.
func decodeAny(data []byte) (*Profile, error) {
	// The version is read first. A newer file may hold values that do not fit the full type,
	// and must not be called damaged for that.
	var head struct {
		Version *int `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		if endsEarly(data, err) {
			return nil, fmt.Errorf("%w: its JSON ends early", ErrTruncated)
		}
		return nil, fmt.Errorf("%w: %w", ErrNotProfile, err)
	}
	switch {
	case head.Version == nil:
		return nil, fmt.Errorf("%w: it states no version", ErrNotProfile)
	case *head.Version > SchemaVersion:
		return nil, fmt.Errorf("%w: it has version %d, this program reads up to version %d",
			ErrNewerVersion, *head.Version, SchemaVersion)
	case *head.Version < 1:
		return nil, fmt.Errorf("%w: version %d does not exist", ErrNotProfile, *head.Version)
	}
	p := new(Profile)
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotProfile, err)
	}
	return p, nil
}

// gzipMagic begins all gzip data (RFC 1952, 2.3.1).
const gzipMagic = "\x1f\x8b"

// unpackRecord returns the uncompressed content of r.
func unpackRecord(r io.Reader) ([]byte, error) {
	begin := make([]byte, len(gzipMagic))
	n, err := io.ReadFull(r, begin)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("read profile: %w", err)
	}
	if !strings.HasPrefix(gzipMagic, string(begin[:n])) {
		return nil, fmt.Errorf("%w: it is not gzip data", ErrNotProfile)
	}
	packed := &packedBytes{r: io.MultiReader(bytes.NewReader(begin[:n]), r)}
	zr, err := gzip.NewReader(packed)
	switch {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%w: it is empty", ErrTruncated)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("%w: it ends within the gzip header", ErrTruncated)
	case errors.Is(err, gzip.ErrHeader):
		return nil, fmt.Errorf("%w: it is not gzip data", ErrNotProfile)
	case err != nil:
		return nil, fmt.Errorf("read profile: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(&weighed{r: zr, packed: packed}, maxRecord+1))
	switch {
	case errors.Is(err, errBomb):
		return nil, fmt.Errorf("%w: %w", ErrNotProfile, err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("%w: its gzip data ends early", ErrTruncated)
	case isDamaged(err):
		return nil, fmt.Errorf("%w: %w", ErrNotProfile, err)
	case err != nil:
		return nil, fmt.Errorf("read profile: %w", err)
	case len(data) > maxRecord:
		return nil, fmt.Errorf("%w: it unpacks to more than %d GiB", ErrNotProfile, maxRecord>>30)
	}
	return data, nil
}

// Validate reports the first fault in p's structure: an index out of range, a node before its
// parent, an unknown construct, a negative duration. It does not judge figures: a profile with odd
// times is still the user's measurement.
func Validate(p *Profile) error {
	if len(p.Nodes) == 0 {
		return errors.New("it has no root node")
	}
	if p.Meta.Duration < 0 {
		return fmt.Errorf("its duration is negative (%d ns)", p.Meta.Duration)
	}
	for i, t := range p.Threads {
		if t.Root < 0 || t.Num < UnknownNum {
			return fmt.Errorf("thread %d has a negative number (%d:%d)", i, t.Root, t.Num)
		}
	}
	for i, r := range p.Regions {
		if r.Construct == event.NoConstruct || !knownConstruct(r.Construct) {
			return fmt.Errorf("region %d is of no known construct (%d)", i, r.Construct)
		}
		if r.Location.Begin < 0 || r.Location.End < 0 {
			return fmt.Errorf("region %d has a negative line", i)
		}
	}
	for i := range p.Nodes {
		if err := validateNode(p, i); err != nil {
			return err
		}
	}
	if !p.Strip.valid(len(p.Threads)) {
		return errors.New("its strip has bins or threads that cannot be")
	}
	for i := range p.Comms {
		if up := p.Comms[i].Parent; up < -1 || up >= i {
			return fmt.Errorf("communicator %d has parent %d, which does not precede it", i, up)
		}
	}
	for i, l := range p.Lost {
		if l.Region < -1 || l.Region >= len(p.Regions) {
			return fmt.Errorf("loss %d names region %d of %d", i, l.Region, len(p.Regions))
		}
		if l.Thread < -1 || l.Thread >= len(p.Threads) {
			return fmt.Errorf("loss %d names thread %d of %d", i, l.Thread, len(p.Threads))
		}
	}
	for i := range p.Samples {
		if err := validateSample(p, i); err != nil {
			return err
		}
	}
	return nil
}

func validateSample(p *Profile, i int) error {
	s := &p.Samples[i]
	if s.Node < 0 || s.Node >= len(p.Nodes) {
		return fmt.Errorf("sample %d names node %d of %d", i, s.Node, len(p.Nodes))
	}
	if s.Thread < -1 || s.Thread >= len(p.Threads) {
		return fmt.Errorf("sample %d names thread %d of %d", i, s.Thread, len(p.Threads))
	}
	for _, f := range s.Stack {
		if f < 0 || f >= len(p.Frames) {
			return fmt.Errorf("sample %d names frame %d of %d", i, f, len(p.Frames))
		}
	}
	return nil
}

func validateNode(p *Profile, i int) error {
	n := &p.Nodes[i]
	if i == 0 {
		if n.Parent != -1 || n.Region != -1 {
			return fmt.Errorf("its first node is not the root (parent %d, region %d)", n.Parent, n.Region)
		}
	} else {
		if n.Parent < 0 || n.Parent >= i {
			return fmt.Errorf("node %d has parent %d, which does not precede it", i, n.Parent)
		}
		if n.Region < 0 || n.Region >= len(p.Regions) {
			return fmt.Errorf("node %d names region %d of %d", i, n.Region, len(p.Regions))
		}
	}
	for _, s := range n.Stats {
		if s.Thread < 0 || s.Thread >= len(p.Threads) {
			return fmt.Errorf("node %d names thread %d of %d", i, s.Thread, len(p.Threads))
		}
		if x := s.Traffic; x != nil && max(len(x.Sent), len(x.Received), len(x.Moved)) > 65 {
			return fmt.Errorf("node %d has messages larger than any", i)
		}
		if s.Sched != nil && !s.Sched.valid(len(p.Rivals)) {
			return fmt.Errorf("node %d names a process that had a core, and is not listed", i)
		}
	}
	return nil
}

func knownConstruct(c event.Construct) bool {
	back, ok := event.ParseConstruct(c.String())
	return ok && back == c
}

// endsEarly reports whether a JSON error means that the text ends too early, not that the text is
// wrong.
func endsEarly(data []byte, err error) bool {
	var syntax *json.SyntaxError
	return errors.As(err, &syntax) && syntax.Offset >= int64(len(data)) && len(data) > 0 && data[0] == '{'
}

// isDamaged reports whether err says that the compressed data is damaged, and not that reading it
// failed.
func isDamaged(err error) bool {
	var bad flate.CorruptInputError
	return errors.As(err, &bad) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader)
}
