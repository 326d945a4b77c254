package control

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
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

// mostProfile bounds the length of a profile that is read, in bytes.
const mostProfile = 1 << 30

// sendProfiles answers a request for snapshots. After an error nothing was sent.
func sendProfiles(m Measurement, pid int, c net.Conn) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := target.ProcessorTime()
	all, err := m.Profiles(pid)
	if err != nil {
		return err
	}
	var body bytes.Buffer
	for _, p := range all {
		var one bytes.Buffer
		if err := profile.Encode(&one, p); err != nil {
			return err
		}
		body.Write(binary.LittleEndian.AppendUint64(nil, uint64(one.Len())))
		body.Write(one.Bytes())
	}
	_, _ = fmt.Fprintf(c, "%s %d\n", answerOK, target.ProcessorTime()-begin)
	_, _ = c.Write(body.Bytes()) // who asked may be gone
	return nil
}

// Peer is a measurement of another run of the tool, by its socket.
type Peer string

// findLimit bounds how long a measurement may take to say whether it measures a process. One that
// is stopped must not hold up others.
const findLimit = 2 * time.Second

// Find finds the measurement that measures a process. The error is ErrNotMeasured if no measurement
// of this user does.
func Find(pid int) (Peer, error) {
	sockets, err := socketsOf()
	if err != nil {
		return "", err
	}
	for _, path := range sockets {
		if text, err := ask(path, measuresVerb, pid, findLimit); err == nil && text == answerOK {
			return Peer(path), nil
		}
	}
	return "", ErrNotMeasured
}

// Profiles asks for snapshots of all processes of the measurement that measures a process, and
// returns the processor time that they took there. The error is ErrNotMeasured if the process is
// not measured any more.
func (p Peer) Profiles(pid int) (all []*profile.Profile, took time.Duration, err error) {
	c, err := request(string(p), snapshotVerb, pid, controlLimit)
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist) {
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
