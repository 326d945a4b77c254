package collect

// warnOfOther gives a process a warning, and tells the user.
func (rd *reader) warnOfOther(p *Process, s string) {
	if s == "" {
		return
	}
	rd.mu.Lock()
	p.warnOnce(s)
	say := rd.say
	rd.mu.Unlock()
	if say != nil {
		say(s)
	}
}
