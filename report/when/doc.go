// Package when makes a picture of bounded size of recorded timelines, for the page: what each thread
// did at which time.
//
//   - picture.go: the picture, and how it is made
//   - lane.go: executions at one depth of a thread; short ones are drawn together
//   - row.go: the executions of a thread, and the time of each level
//   - messages.go: messages and gaps
//
// # Level of detail
//
// A picture has so many boxes at most. Executions that are shorter than a limit become one box with
// those beside them, which says how many executions it stands for, how long they took together, and
// which region took most of that. The limit is as low as the number of boxes permits.
package when
