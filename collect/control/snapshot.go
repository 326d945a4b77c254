package control

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"ompp-attach/collect/target"
	"ompp-attach/profile"
)

// measuresVerb asks whether a process is measured.
const measuresVerb = "measures"

// snapshotVerb asks for the snapshots of all processes of a measurement. The answer's line is ok
// and the processor time that the snapshots took, in ns. Then come the profiles, as they are
// recorded in files, each after its length in 8 bytes, the least significant first.
const snapshotVerb = "snapshot"

// dumpAllVerb asks for snapshots of all processes of a measurement, in files, with one number. The
// answer's line is ok and the name of the first file.
const dumpAllVerb = "dump-all"

// mostProfile bounds the length of a profile that is read, in bytes.
const mostProfile = 1 << 30

// encodeProfiles takes the snapshots, and returns what follows the answer's line, and the processor
// time that the snapshots took.
func encodeProfiles(m Measurement, pid int) (body []byte, took time.Duration, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := target.ProcessorTime()
	all, err := m.Profiles(pid)
	if err != nil {
		return nil, 0, err
	}
	for _, p := range all {
		var one bytes.Buffer
		if err := profile.Encode(&one, p); err != nil {
			return nil, 0, err
		}
		body = binary.LittleEndian.AppendUint64(body, uint64(one.Len()))
		body = append(body, one.Bytes()...)
	}
	return body, target.ProcessorTime() - begin, nil
}

// Peer is a measurement of another run of the tool, by its socket.
type Peer string

// findLimit bounds how long a measurement may take to say whether it measures a process. One that
// is stopped must not hold up others.
const findLimit = 2 * time.Second

// Find finds the measurement that measures a process. The error is ErrNotMeasured if no measurement
// of this user says so soon.
func Find(pid int) (Peer, error) {
	peer, err := find(pid, findLimit)
	if err != nil {
		return "", ErrNotMeasured
	}
	return peer, nil
}

// find is Find with a limit of time for each measurement. The error is ErrNotMeasured, or says that
// a measurement did not answer: that one may measure the process. Measurements that end meanwhile
// do not matter. All are asked at once: a tool that is stopped must not hold up the answer of
// another one.
func find(pid int, limit time.Duration) (Peer, error) {
	sockets, err := socketsOf()
	if err != nil {
		return "", err
	}
	type answer struct {
		path, text string
		err        error
	}
	answers := make(chan answer, len(sockets))
	for _, path := range sockets {
		go func() {
			text, err := ask(path, measuresVerb, pid, limit)
			answers <- answer{path, text, err}
		}()
	}
	silent := ErrNotMeasured
	for range sockets {
		switch a := <-answers; {
		case a.err == nil && a.text == answerOK:
			return Peer(a.path), nil
		case errors.Is(a.err, syscall.ECONNREFUSED):
			removeDead(a.path)
		case errors.Is(a.err, os.ErrDeadlineExceeded):
			silent = fmt.Errorf("the measurement did not answer: %w", a.err)
		}
	}
	return "", silent
}

// Profiles asks for snapshots of all processes of the measurement that measures a process, and
// returns the processor time that they took there. The error is ErrNotMeasured if the process is
// not measured any more.
func (p Peer) Profiles(pid int) (all []*profile.Profile, took time.Duration, err error) {
	c, err := request(string(p), snapshotVerb, pid, controlLimit)
	if gone(err) {
		return nil, 0, ErrNotMeasured
	} else if err != nil {
		return nil, 0, err
	}
	defer c.Close()
	from := bufio.NewReader(c)
	line, err := from.ReadString('\n')
	if err != nil {
		return nil, 0, fmt.Errorf("the measurement did not answer: %w", err)
	}
	line = strings.TrimSpace(line)
	if line == answerNone {
		return nil, 0, ErrNotMeasured
	}
	if n, err := fmt.Sscanf(line, answerOK+" %d", &took); n != 1 || err != nil {
		return nil, 0, errors.New(line)
	}
	for {
		var length uint64
		if err := binary.Read(from, binary.LittleEndian, &length); err == io.EOF {
			return all, took, nil
		} else if err != nil || length > mostProfile {
			return nil, 0, errors.New("the measurement's answer is damaged")
		}
		one := io.LimitReader(from, int64(length))
		p, err := profile.Decode(one)
		if err != nil {
			return nil, 0, fmt.Errorf("the measurement's answer: %w", err)
		}
		_, _ = io.Copy(io.Discard, one)
		all = append(all, p)
	}
}

// DumpAll has the measurement that measures a process write snapshots of all its processes, and
// returns the name of the first file. The error is ErrNotMeasured or a sentence.
func (p Peer) DumpAll(pid int) (first string, err error) {
	return p.ask(dumpAllVerb, pid)
}

// ask sends a request and returns what the answer says beyond ok. The error is ErrNotMeasured or a
// sentence.
func (p Peer) ask(verb string, pid int) (string, error) {
	text, err := ask(string(p), verb, pid, controlLimit)
	switch {
	case gone(err):
		return "", ErrNotMeasured
	case err != nil:
		return "", fmt.Errorf("the measurement did not answer: %w", err)
	}
	return beyondOK(text)
}

// gone tells whether nobody listens at a socket any more.
func gone(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist)
}
