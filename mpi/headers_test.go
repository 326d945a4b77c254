package mpi

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// headerSets are where distributions put the headers that hold prototypes.
var headerSets = map[string][]string{
	"Open MPI": {
		// Debian's.
		"/usr/lib/*/openmpi/include/mpi.h", "/usr/lib/*/openmpi/include/openmpi/mpiext/*pcollreq*.h",
		"/usr/include/openmpi-*/mpi.h", // Fedora
	},
	"MPICH": {
		"/usr/include/*/mpich/mpi.h", "/usr/include/*/mpich/mpi_proto.h", "/usr/include/*/mpich/mpio.h",
		"/usr/include/mpich-*/mpi.h", "/usr/include/mpich-*/mpi_proto.h", "/usr/include/mpich-*/mpio.h",
	},
}

// notOperations are prototypes that Operations leaves out, as its comment says.
var notOperations = regexp.MustCompile(`^MPI_T_|^MPI_[A-Z_]+$|_(c2f|f2c|c2f08|f082c|f082f|f2f08)$|^MPIX_(Comm|Query|GPU|Grequest|Iov|Type|Delete)`)

var (
	comment   = regexp.MustCompile(`(?s)/\*.*?\*/|(?m)^#[^\n]*$`)
	prototype = regexp.MustCompile(`\b(?:int|double|MPI_Aint)\s+(MPIX?_[A-Z]\w*)\s*\(`)
	spaces    = regexp.MustCompile(`\s+`)
)

// prototypes returns the parameters of each function that the text declares.
func prototypes(text string) map[string][]string {
	text = comment.ReplaceAllString(text, "")
	params := map[string][]string{}
	for _, m := range prototype.FindAllStringSubmatchIndex(text, -1) {
		name, list := text[m[2]:m[3]], []string{}
		depth, begin := 1, m[1]
		for i := m[1]; depth > 0; i++ {
			switch c := text[i]; {
			case c == '(' || c == '[':
				depth++
			case c == ')' || c == ']':
				depth--
			}
			if text[i] == ',' && depth == 1 || depth == 0 {
				p := spaces.ReplaceAllString(strings.TrimSpace(text[begin:i]), " ")
				list = append(list, strings.ReplaceAll(p, "* ", "*"))
				begin = i + 1
			}
		}
		if len(list) == 1 && (list[0] == "void" || list[0] == "") {
			list = []string{}
		}
		params[name] = list
	}
	return params
}

// TestOperationsAgreeWithHeaders: every prototype of an installed mpi.h is an
// operation, and its parameters are what the table takes them for.
func TestOperationsAgreeWithHeaders(t *testing.T) {
	for library, patterns := range headerSets {
		t.Run(library, func(t *testing.T) {
			declared := map[string][]string{}
			for _, p := range patterns {
				files, err := filepath.Glob(p)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range files {
					text, err := os.ReadFile(f)
					if err != nil {
						t.Fatal(err)
					}
					for name, params := range prototypes(string(text)) {
						declared[name] = params
					}
				}
			}
			if len(declared) == 0 {
				t.Skipf("no mpi.h of %s in %v", library, patterns)
			}
			checked := 0
			for name, params := range declared {
				if notOperations.MatchString(name) {
					continue
				}
				op, ok := ParseOp(name)
				if !ok {
					t.Errorf("%s is not in Operations", name)
					continue
				}
				checkPrototype(t, op.Info(), params)
				checked++
			}
			if checked < 350 {
				t.Errorf("found only %d prototypes: is the headers' form another?", checked)
			}
			t.Logf("%d prototypes compared", checked)
			if _, ok := declared["MPI_Session_init"]; !ok {
				return // older than MPI 4.0
			}
			for i := range Operations {
				if name := Operations[i].Name; declared[name] == nil && !strings.HasPrefix(name, "MPIX_") {
					t.Errorf("no header declares %s", name)
				}
			}
		})
	}
}

// The parameters' declarations, by what the table may take them for.
var (
	commParam     = regexp.MustCompile(`^MPI_Comm \w+$`)
	winParam      = regexp.MustCompile(`^MPI_Win \w+$`)
	fileParam     = regexp.MustCompile(`^MPI_File \w+$`)
	requestParam  = regexp.MustCompile(`^MPIO?_Request (\*\w+|\w+\[\])$`)
	peerParam     = regexp.MustCompile(`^int (dest|source|target_rank|rank|root)$`)
	rootParam     = regexp.MustCompile(`^int root$`)
	sourceParam   = regexp.MustCompile(`^int source$`)
	tagParam      = regexp.MustCompile(`^int (send)?tag$`)
	requestsParam = regexp.MustCompile(`^int (in)?count$`)
	sendBufParam  = regexp.MustCompile(`^const void \*sendbuf$`)
	recvBufParam  = regexp.MustCompile(`^void \*recvbuf$`)
	groupParam    = regexp.MustCompile(`^MPI_Group \w+$`)
	newGroupParam = regexp.MustCompile(`^MPI_Group \*\w+$`)
	ranksParam    = regexp.MustCompile(`^(const )?int \w+\[\]$`)
	rangesParam   = regexp.MustCompile(`^int \w+\[\]\[3\]$`)
	intParam      = regexp.MustCompile(`^int \w+$`)
	partsParam    = regexp.MustCompile(`^int partitions$`)
)

func checkPrototype(t *testing.T, op *Operation, params []string) {
	t.Helper()
	if int(op.Args) != len(params) {
		t.Errorf("%s: %d arguments, the header has %d: %v", op.Name, op.Args, len(params), params)
		return
	}
	// is checks one entry of the table (pos): the header's parameter must look as want says. If
	// must is set and some parameter looks so, the table must have an entry for it.
	is := func(what string, pos int8, want *regexp.Regexp, must bool) {
		t.Helper()
		if pos != None && !want.MatchString(params[pos]) {
			t.Errorf("%s: %s is argument %d, which is %q", op.Name, what, pos, params[pos])
		}
		for i, p := range params {
			if must && pos == None && want.MatchString(p) {
				t.Errorf("%s: argument %d is %q, the table has no %s", op.Name, i, p, what)
			}
		}
	}
	moves := op.Kind != Time
	handle := map[HandleClass]*regexp.Regexp{NoHandle: commParam, CommHandle: commParam, WinHandle: winParam, FileHandle: fileParam}[op.Handle]
	is("communicator", op.Comm, handle, true)
	is("window", None, winParam, op.Comm == None)
	is("file", None, fileParam, op.Comm == None)
	is("request", op.Request, requestParam, true)
	several := op.Request != None && strings.HasSuffix(params[op.Request], "[]")
	is("number of requests", op.Requests, requestsParam, several)
	if op.Requests != None && !several {
		t.Errorf("%s: several requests, the header has one", op.Name)
	}
	is("peer", op.Peer, peerParam, moves)
	is("tag", op.Tag, tagParam, op.Kind == PointToPoint)
	is("partitions", op.Partitions, partsParam, true)
	g, ok := op.Groups()
	if !ok {
		g = Grouping{Unlisted, None, None, None, None, None}
	}
	list := ranksParam
	if g.Ints() == 3 {
		list = rangesParam
	}
	is("new group", g.Result, newGroupParam, !strings.HasSuffix(op.Name, "_free"))
	is("group", g.Of, groupParam, ok)
	is("second group", g.With, groupParam, false)
	is("list of ranks", g.List, list, false)
	is("number of ranks", g.Number, intParam, false)
	if op.Root != (op.Peer != None && rootParam.MatchString(params[op.Peer])) {
		t.Errorf("%s: Root is %v", op.Name, op.Root)
	}
	is("source", op.Peer2, sourceParam, moves && op.Peer2 == None && op.Send.Exists())
	is("send buffer", op.SendBuf, sendBufParam, false)
	is("receive buffer", op.RecvBuf, recvBufParam, false)
	send, recv := "send|origin_", "recv|result_"
	if op.Kind == ReduceScatter {
		send = recv // one count for both, called recvcount
	}
	if !op.Send.Exists() {
		recv = "recv|origin_" // MPI_Get
	}
	checkSide(t, op, &op.Send, send, params)
	checkSide(t, op, &op.Recv, recv, params)
}

// checkSide checks count and type of one side: they look as such, belong together, and belong to
// this side.
func checkSide(t *testing.T, op *Operation, b *Buffer, side string, params []string) {
	t.Helper()
	if !b.Exists() {
		return
	}
	check := func(what string, pos int8, array bool, ctype, names string) {
		t.Helper()
		suffix := ``
		if array {
			suffix = `\[\]`
		}
		want := regexp.MustCompile(`^(const )?` + ctype + ` (` + side + `)?(` + names + `)` + suffix + `$`)
		if !want.MatchString(params[pos]) {
			t.Errorf("%s: %s is argument %d, which is %q, not %v", op.Name, what, pos, params[pos], want)
		}
	}
	count := "int"
	if op.Wide {
		count = "MPI_Count"
	}
	if b.Count != None {
		// MPICH 4.0's mpi_proto.h has a target_cout.
		check("count", b.Count, b.CountArray, count, "counts?|cout")
	}
	check("type", b.Type, b.TypeArray, "MPI_Datatype", "data_?type|types?")
}

// TestOperationsAreConsistent checks the entries of each row that follow from other entries.
func TestOperationsAreConsistent(t *testing.T) {
	seen := map[string]bool{}
	for i := range Operations {
		op := &Operations[i]
		if seen[op.Name] {
			t.Errorf("%s: twice", op.Name)
		}
		seen[op.Name] = true
		if op.SendBuf != None && op.RecvBuf != None {
			t.Errorf("%s: both sides may be in place", op.Name)
		}
		if op.Root != (op.Kind == Bcast || op.Kind == Reduce || op.Kind == Gather || op.Kind == Scatter) {
			t.Errorf("%s: Root is %v", op.Name, op.Root)
		}
		if op.Persistent && op.Request == None {
			t.Errorf("%s: persistent without a request", op.Name)
		}
		if op.Wide && !strings.HasSuffix(op.Name, "_c") && op.Partitions == None {
			t.Errorf("%s: wide", op.Name)
		}
		if op.Query && (op.Kind != Time || op.Counts != 0) {
			t.Errorf("%s: a query that communicates", op.Name)
		}
		base := strings.TrimSuffix(op.Name, "_c")
		if b, ok := ParseOp(base); base != op.Name && (!ok || b.Info().Kind != op.Kind || b.Info().Counts != op.Counts) {
			t.Errorf("%s: differs from %s in more than its counts' width", op.Name, base)
		}
		if moves := op.Send.Exists() || op.Recv.Exists(); moves == (op.Kind == Time || op.Kind == Start) {
			t.Errorf("%s: kind %d, but has sides: %v", op.Name, op.Kind, moves)
		}
	}
}
