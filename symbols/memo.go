package symbols

import "sync"

// Memo keeps one answer about each file, so that the answer is computed once, also if several
// goroutines ask at the same time. Its zero value is ready for use.
type Memo[T any] struct {
	answers sync.Map // *Object to func() T
}

// Of returns the answer about a file. When the file is first asked about, compute finds the answer.
// Whoever asks meanwhile waits.
func (m *Memo[T]) Of(o *Object, compute func(*Object) T) T {
	answer, ok := m.answers.Load(o)
	if !ok {
		answer, _ = m.answers.LoadOrStore(o, sync.OnceValue(func() T { return compute(o) }))
	}
	return answer.(func() T)()
}

// Forget drops the answer about a file.
func (m *Memo[T]) Forget(o *Object) { m.answers.Delete(o) }
