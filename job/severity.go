package job

import (
	"ompp-attach/profile"
	"ompp-attach/severity"
)

// severities add up the severities of ranks.
type severities struct {
	*severity.Sum
	number map[key]int // numbers of regions, in the order in which ranks first name them
	keys   []key
}

func newSeverities() *severities {
	return &severities{Sum: severity.NewSum(severity.MostValues), number: map[key]int{}}
}

// merge adds the severities of a rank.
func (s *severities) merge(r *reduced) {
	region := make([]int, len(r.number))
	for i, part := range r.number {
		k := r.parts[part].key
		n, ok := s.number[k]
		if !ok {
			n = len(s.keys)
			s.number[k], s.keys = n, append(s.keys, k)
		}
		region[i] = n
	}
	s.Add(r.cube, region)
}

// finish gives regions the numbers of the job's report.
func (s *severities) finish(number map[key]int, regions []*Region) *severity.Cube {
	moved := make([]int, len(s.keys))
	for i, k := range s.keys {
		moved[i] = number[k]
	}
	var all []profile.Region
	for _, r := range regions {
		all = append(all, r.Region)
	}
	return s.Finish(all, moved)
}
