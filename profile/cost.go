package profile

// Cost is a part of a thread's times at a node, in ns: the part that the thread's probes took, or
// the part without a core. Each field is the part of the field of the same name in ThreadStats.
type Cost struct {
	Exec    int64 `json:"exec,omitempty"`
	Enter   int64 `json:"enter,omitempty"`
	Body    int64 `json:"body,omitempty"`
	Barrier int64 `json:"barrier,omitempty"`
	Exit    int64 `json:"exit,omitempty"`
	Child   int64 `json:"child,omitempty"`
	Task    int64 `json:"task,omitempty"`
	// Wait is the part of Barrier in which the thread waited for others only because probes had
	// taken more of their time. It is not a cost of the thread's own hits.
	Wait int64 `json:"wait,omitempty"`
}

// Add adds the cost of another thread, or of another place.
func (c *Cost) Add(o *Cost) {
	c.Exec += o.Exec
	c.Enter += o.Enter
	c.Body += o.Body
	c.Barrier += o.Barrier
	c.Exit += o.Exit
	c.Child += o.Child
	c.Task += o.Task
	c.Wait += o.Wait
}

// Plus returns the sum of two costs, either of which may be nil. It changes neither of them:
// profiles that were derived from one another share them.
func (c *Cost) Plus(o *Cost) *Cost {
	if c == nil || o == nil {
		if c == nil {
			return o
		}
		return c
	}
	sum := *c
	sum.Add(o)
	return &sum
}

func (c *Cost) uncover(child *Cost) *Cost {
	if child == nil {
		return c
	}
	return c.Plus(&Cost{Child: child.Child - child.Exec})
}

func (c *Cost) takeBody(child *Cost) *Cost {
	if c == nil && child == nil {
		return nil
	}
	all := *c.Plus(&Cost{})
	all.Body = child.Plus(&Cost{}).Body
	return &all
}

func (c *Cost) undivide() *Cost {
	if c == nil {
		return nil
	}
	all := *c
	all.Body, all.Barrier = c.Exec, 0
	return &all
}

func addTo(sum **Cost, c *Cost) {
	// A comparison with the empty cost would call a function of the runtime.
	if c.Exec|c.Enter|c.Body|c.Barrier|c.Exit|c.Child|c.Task|c.Wait == 0 {
		return
	}
	if *sum == nil {
		*sum = &Cost{}
	}
	(*sum).Add(c)
}
