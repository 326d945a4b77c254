package hierarchy

import (
	"encoding/csv"
	"fmt"
	"io"

	"ompp-attach/hiera"
)

// csvFiles are one file for each table. Call sites are of each process.
func csvFiles() (files []File) {
	for _, x := range all {
		of := x.build
		if x.key == "by_place" {
			of = placesOfEach
		}
		files = append(files, File{"hiera." + x.key + ".csv", func(w io.Writer, s *hiera.Statistics, o Options) error {
			t := of(s, o)
			if t == nil {
				return ErrNothing
			}
			return t.writeCSV(w)
		}})
	}
	return files
}

// ErrNothing says that a file has nothing to tell, and is not wanted.
var ErrNothing = fmt.Errorf("there is nothing to tell")

func (t *table) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true // RFC 4180, 2.1
	var head []string
	for _, c := range t.columns {
		head = append(head, c.name())
	}
	if err := out.Write(head); err != nil {
		return fmt.Errorf("write csv: %w", err)
	}
	for _, r := range t.rows {
		var cells []string
		for _, cell := range r {
			cells = append(cells, plain(cell))
		}
		_ = out.Write(cells) // Error tells
	}
	out.Flush()
	return out.Error()
}
