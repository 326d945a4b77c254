# Sourced by scripts that do one thing after another: `step NAME COMMAND...` runs the command, and
# says how long it took. Its status is the command's: a script decides whether to go on. $steps lists
# all steps, $failed the names of those that failed.
steps=
failed=
step() {
	name=$1
	shift
	began=$(date +%s)
	status=0
	"$@" || status=$?
	took="$name: $(($(date +%s) - began)) s"
	if [ "$status" != 0 ]; then
		took="$took, FAILED"
		failed="${failed:+$failed, }$name"
	fi
	steps="$steps
    $took"
	echo "$took"
	return "$status"
}
