// Package cli is shared by all commands of the tool. It holds exit statuses, messages to the user's
// terminal, checks of arguments, handling of signals, and the flags that say what reports show.
package cli
