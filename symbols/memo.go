package symbols

import "sync"

// Memo keeps one answer about each file. The answer is computed once, also if several goroutines
// ask at the same time. The zero value is ready for use.
type Memo[T any] struct {
	answers sync.Map // *Object to func() T
}

// Of returns the answer about a file. The first call for a file computes the answer. Other
// goroutines that ask meanwhile wait.
func (m *Memo[T]) Of(o *Object, compute func(*Object) T) T {
	answer, ok := m.answers.Load(o)
	if !ok {
		answer, _ = m.answers.LoadOrStore(o, sync.OnceValue(func() T { return compute(o) }))
	}
	return answer.(func() T)()
}

// Forget drops the answer about a file.
func (m *Memo[T]) Forget(o *Object) { m.answers.Delete(o) }
