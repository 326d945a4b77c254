package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"

	"ompp-attach/job"
	"ompp-attach/profile"
	"ompp-attach/report"
)

var (
	//go:embed page.html.tmpl
	templateText string
	//go:embed difference.html.tmpl
	differenceText string
	//go:embed page.css
	style string
	//go:embed dist/page.js
	script string

	pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
		"seconds": seconds, "percent": percent, "bar": barSVG, "class": className}).Parse(templateText + differenceText))
)

// compressFrom is a size in bytes. Larger figures are embedded as gzip and base64.
const compressFrom = 256 << 10

// WriteProcess writes the page of a process. It returns only errors of the writer.
func WriteProcess(w io.Writer, p *profile.Profile, o report.Options) error {
	x := process(p, o)
	title := x.Head.Program
	if x.Head.Rank != nil {
		title += fmt.Sprintf(", rank %d", *x.Head.Rank)
	}
	return write(w, title, x, &static{Process: x, Whole: x.Whole})
}

// WriteProcessJSON writes the figures of that page as JSON.
func WriteProcessJSON(w io.Writer, p *profile.Profile, o report.Options) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(process(p, o)); err != nil {
		return fmt.Errorf("write json: %w", err)
	}
	return nil
}

// WriteJob writes the page of a job. It returns errors of the writer, and of the figures' encoding.
func WriteJob(w io.Writer, j *job.Job, o report.Options) error {
	x, err := ofJob(j, o)
	if err != nil {
		return err
	}
	s := &static{Job: x, Whole: x.Whole}
	s.jobRegions(j)
	return write(w, fmt.Sprintf("%s, %d ranks", firstOf(x.Head.Programs), x.Head.Ranks), x, s)
}

// static is the data of page.html.tmpl, with all that a browser without scripts shows.
type static struct {
	Title      string
	Process    *Process
	Job        *Job
	Difference *staticDifference
	Whole      Parts
	Regions    []staticRegion // of a job
	Ranks      []staticRank

	Style  template.CSS
	Script template.JS
	Policy string
	Data   template.JS
	Packed bool // Data is gzip and base64
}

func write(w io.Writer, title string, figures any, s *static) error {
	data, err := json.Marshal(figures) // escapes <, > and &, so that no name can end a script
	if err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	if s.Packed = len(data) > compressFrom; s.Packed {
		data = packed(data)
	}
	hash := sha256.Sum256([]byte(script))
	s.Title, s.Style, s.Script, s.Data = title, template.CSS(style), template.JS(script), template.JS(data)
	// The page loads nothing and runs only its own script, whatever names the figures hold.
	s.Policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
	var page bytes.Buffer
	if err := pageTemplate.Execute(&page, s); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	if _, err := w.Write(page.Bytes()); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// packed compresses the figures. Writing to memory cannot fail.
func packed(data []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	_, _ = z.Write(data)
	_ = z.Close()
	return fmt.Appendf(nil, "%q", base64.StdEncoding.EncodeToString(b.Bytes()))
}

func firstOf(names []string) string {
	if len(names) == 0 {
		return "unknown"
	}
	return names[0]
}
