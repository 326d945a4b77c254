// Package when makes a picture of bounded size of recorded timelines, for the page: what each
// thread did at which time.
//
//   - picture.go: the picture, and how it is made
//   - layer.go: executions at one depth of a thread; short ones are drawn together
//   - thread.go: the executions of a thread, and the time of each level
//   - messages.go: messages and gaps
//
// # Level of detail
//
// A picture has a bounded number of boxes. Neighbouring executions that are shorter than a limit
// are drawn as one box. The box tells their number, the sum of their times, and the region with
// most of it. The limit is as low as the number of boxes permits.
package when
