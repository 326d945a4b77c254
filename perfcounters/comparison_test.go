package perfcounters

import "testing"

func TestCutComparison(t *testing.T) {
	for _, c := range []struct {
		text, left, op, right     string
		less, equal, greater, cut bool // what holds of 1 and 2, 2 and 2, 2 and 1
	}{
		{"a/b < 0.5", "a/b", "<", "0.5", true, false, false, true},
		{" a > b ", "a", ">", "b", false, false, true, true},
		{"a<=b", "a", "<=", "b", true, true, false, true},
		{"a >= ", "a", ">=", "", false, true, true, true},
		{"a = b", "", "", "", false, false, false, false},
		{"", "", "", "", false, false, false, false},
	} {
		left, op, right, ok := CutComparison(c.text)
		if left != c.left || op.Text != c.op || right != c.right || ok != c.cut {
			t.Errorf("%q: %q %s %q, %t", c.text, left, op.Text, right, ok)
		}
		if ok && (op.Holds(1, 2) != c.less || op.Holds(2, 2) != c.equal || op.Holds(2, 1) != c.greater) {
			t.Errorf("%q: of 1 and 2, 2 and 2, 2 and 1 hold %t, %t, %t", c.text, op.Holds(1, 2), op.Holds(2, 2), op.Holds(2, 1))
		}
	}
}
