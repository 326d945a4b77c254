// Package preflight finds out what this machine and this user can measure, without measuring. It
// takes the facts of the machine, makes a trial of the kernel side, and judges both in words. Facts
// are read through an fs.FS, so that each judgement can be tested for machines that nobody has at
// hand.
package preflight
