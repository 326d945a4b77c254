// Package cli holds what all commands of the tool share: exit statuses, messages to the user's
// terminal, checks of arguments, and signals. It also holds the flags on what reports show.
package cli
