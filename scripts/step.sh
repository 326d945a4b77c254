# Sourced by scripts that do one thing after another: `step NAME COMMAND...` runs the command, and
# says how long it took.
step() {
	name=$1
	shift
	began=$(date +%s)
	"$@" || { echo "$name: FAILED after $(($(date +%s) - began)) s" >&2; return 1; }
	took="$name: $(($(date +%s) - began)) s"
	steps="${steps:-}
    $took"
	echo "$took"
}
