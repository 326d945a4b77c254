package xmltrace

import (
	"fmt"
	"io"
	"strings"

	"ompp-attach/hiera"
)

// Names of the files that traces refer to.
const (
	TraceDTD     = "trace.dtd"
	CollectorDTD = "hieraCollector.dtd"
)

const calls = "hieraMPI|hieraOMP|hieraUser|hieraOOPS"

// WriteTraceDTD writes the document type of a process's file.
func WriteTraceDTD(w io.Writer) error {
	_, err := fmt.Fprintf(w, traceDTD, calls, operations())
	return err
}

// WriteCollectorDTD writes the document type of the configuration file.
func WriteCollectorDTD(w io.Writer) error {
	_, err := io.WriteString(w, collectorDTD)
	return err
}

// operations lists the names of MPI operations in lines of at most 100 columns.
func operations() string {
	var b strings.Builder
	column := 0
	for i, n := range hiera.OperationNames() {
		if i > 0 {
			b.WriteByte('|')
			column++
		}
		if column+len(n) > 90 {
			b.WriteString("\n    ")
			column = 4
		}
		b.WriteString(n)
		column += len(n)
	}
	return b.String()
}

const traceDTD = `<!-- A process of a program, in the format of HieraAnalyses (Seraphim, Seraphim and Travieso 2009)
     as ompp-attach extends it. Times are in seconds from the beginning of the measurement. An
     element with the attribute executions stands for several, without single times. time is what
     the executions took, where that is not the time from start to finish. -->
<!ENTITY %% calls "%s">
<!ENTITY %% call
  "file CDATA #REQUIRED
   line CDATA #REQUIRED
   start_time CDATA #REQUIRED
   finish_time CDATA #REQUIRED
   time CDATA #IMPLIED
   executions CDATA #IMPLIED
   open (yes) #IMPLIED">

<!ELEMENT processor (thread|gap|%%calls;)*>
<!ATTLIST processor
  rank ID #REQUIRED
  init CDATA #REQUIRED
  finalize CDATA #REQUIRED
  host CDATA #IMPLIED
  pid CDATA #IMPLIED
  program CDATA #IMPLIED>

<!-- only if there are several threads -->
<!ELEMENT thread (gap|%%calls;)*>
<!ATTLIST thread
  num CDATA #REQUIRED
  tid CDATA #IMPLIED>

<!-- nothing is known of this time -->
<!ELEMENT gap EMPTY>
<!ATTLIST gap
  start_time CDATA #REQUIRED
  finish_time CDATA #REQUIRED
  reason CDATA #REQUIRED>

<!-- peer and from: ranks in MPI_COMM_WORLD of the receiver and of the sender -->
<!ELEMENT hieraMPI (%%calls;)*>
<!ATTLIST hieraMPI
  %%call;
  operation (%s) #REQUIRED
  count CDATA #IMPLIED
  type CDATA #IMPLIED
  bytes CDATA #IMPLIED
  dest CDATA #IMPLIED
  rem CDATA #IMPLIED
  peer CDATA #IMPLIED
  from CDATA #IMPLIED
  tag CDATA #IMPLIED
  com CDATA #IMPLIED
  comm CDATA #IMPLIED
  root CDATA #IMPLIED
  op CDATA #IMPLIED
  oldtype CDATA #IMPLIED
  newtype CDATA #IMPLIED
  scount CDATA #IMPLIED
  stype CDATA #IMPLIED
  rcount CDATA #IMPLIED
  rtype CDATA #IMPLIED>

<!-- enter, body, barrier, exit: the parts of the time, in seconds -->
<!ELEMENT hieraOMP (%%calls;)*>
<!ATTLIST hieraOMP
  %%call;
  construct CDATA #REQUIRED
  name CDATA #IMPLIED
  enter CDATA #IMPLIED
  body CDATA #IMPLIED
  barrier CDATA #IMPLIED
  exit CDATA #IMPLIED>

<!-- level: the name of the library's level -->
<!ELEMENT hieraUser (%%calls;)*>
<!ATTLIST hieraUser
  %%call;
  function CDATA #REQUIRED
  class CDATA #IMPLIED
  level CDATA #IMPLIED>

<!ELEMENT hieraOOPS (%%calls;)*>
<!ATTLIST hieraOOPS
  %%call;
  class CDATA #REQUIRED
  method CDATA #IMPLIED
  previous CDATA #IMPLIED
  next CDATA #IMPLIED
  color CDATA #IMPLIED
  key CDATA #IMPLIED
  gsizes CDATA #IMPLIED
  cols CDATA #IMPLIED
  root CDATA #IMPLIED>
`

const collectorDTD = `<!-- The files of a program's processes, in the format of HieraAnalyses. -->
<!ELEMENT hieraCollector (collect_file)*>
<!ATTLIST hieraCollector
  application CDATA #REQUIRED
  count_proc CDATA #REQUIRED>
<!ELEMENT collect_file (#PCDATA)>
<!ATTLIST collect_file rank ID #REQUIRED>
`
