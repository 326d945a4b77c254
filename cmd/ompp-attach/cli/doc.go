// Package cli holds what all commands of the tool share: exit statuses, what is told to the user's
// terminal, checks of arguments, signals, and the flags on what reports show.
package cli
