package attribution

import "ompp-attach/attribution/deepcopy"

// Copy returns an engine in the same state that asks another resolver. Either engine can be
// finished or fed without effect on the other.
func (e *Engine) Copy(r Resolver) *Engine {
	out := deepcopy.Of(e)
	out.tree.Answers.Resolver = r
	return out
}
