package xmltrace

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
)

// Config is what a configuration file tells.
type Config struct {
	Application string
	Files       []File
}

// File is the trace of a process.
type File struct {
	Rank int
	Name string // in the configuration file's directory
}

// WriteConfig writes a configuration file.
func WriteConfig(w io.Writer, c *Config) error {
	x := &strings.Builder{}
	x.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE hieraCollector SYSTEM \"" + CollectorDTD + "\">\n")
	fmt.Fprintf(x, "<hieraCollector application=\"%s\" count_proc=\"%d\">\n", escaped(c.Application), len(c.Files))
	for _, f := range c.Files {
		fmt.Fprintf(x, " <collect_file rank=\"%s\">%s</collect_file>\n", rankName(f.Rank), escaped(f.Name))
	}
	x.WriteString("</hieraCollector>\n")
	_, err := io.WriteString(w, x.String())
	return err
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a builder's writes do not fail
	return b.String()
}

// Limits of a configuration file: its processes, the bytes of a name, and of all names together.
const (
	mostFiles = 1 << 20
	mostPath  = 4096
	mostPaths = 64 << 20
)

// ReadConfig reads a configuration file. Its errors wrap ErrRefused.
func ReadConfig(r io.Reader) (*Config, error) {
	c := &Config{}
	d := newTokens(r)
	var name strings.Builder
	rank, inFile, names := 0, false, 0
	for {
		tok, err := d.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		switch e := tok.(type) {
		case xml.StartElement:
			at := attributes(e.Attr)
			switch {
			case e.Name.Local == "hieraCollector" && d.depth() == 1:
				c.Application = at["application"]
			case e.Name.Local == "collect_file" && d.depth() == 2:
				if rank, err = parseRank(at["rank"]); err != nil {
					return nil, d.refuse("%v", err)
				}
				inFile = true
				name.Reset()
			default:
				return nil, d.refuse("element %s has no place in a configuration file", e.Name.Local)
			}
		case xml.CharData:
			if !inFile {
				continue
			}
			if name.Write(e); name.Len() > mostPath {
				return nil, d.refuse("a file's name is longer than %d bytes", mostPath)
			}
		case xml.EndElement:
			if !inFile {
				continue
			}
			inFile = false
			file := strings.TrimSpace(name.String())
			if names += len(file); names > mostPaths {
				return nil, d.refuse("the names of its files are longer than %d MiB together", mostPaths>>20)
			}
			if !filepath.IsLocal(file) {
				return nil, d.refuse("%q is no name of a file in the same directory", file)
			}
			if c.Files = append(c.Files, File{rank, file}); len(c.Files) > mostFiles {
				return nil, d.refuse("it names more than %d files", mostFiles)
			}
		}
	}
	if len(c.Files) == 0 {
		return nil, d.refuse("it names no trace")
	}
	return c, nil
}

// parseRank reads P0, P1 and so on; a number alone is a rank, too.
func parseRank(s string) (int, error) {
	n, err := strconv.Atoi(strings.TrimLeft(s, "Pp"))
	if err != nil || n < 0 || n > 1<<24 {
		return 0, fmt.Errorf("%.20q is no rank, as P0 is", s)
	}
	return n, nil
}
