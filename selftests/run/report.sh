# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# report.sh - what the tests said, printed as it comes and counted in total_*.

# tally LOG STATUS: "PASS FAIL SKIP", then the lines that explain the failures.
# Failing in a way TAP does not show, such as a crash or a wrong plan, counts one.
tally() {
	awk -v status="$2" '
		/^1\.\.0/ { skip++; planned = 0; whole = 1; next }
		/^1\.\.[0-9]+/ { planned = substr($1, 4) + 0; plan = 1; next }
		/^ok .*# SKIP/ { skip++; seen++; bad = 0; next }
		/^ok / { pass++; seen++; bad = 0; next }
		/^not ok / { fail++; seen++; bad = 1; why = why "\n    " $0; next }
		/^#/ && bad { why = why "\n    " $0; next }
		/^TAP version/ { next }
		{ last = last "\n    " $0; bad = 0 }
		function trouble(text) { fail++; why = why "\n    not ok - " text }
		END {
			if (status == 124 || status == 137)
				trouble("time limit" last)
			else if (status != 0 && status != 4 && !fail)
				trouble("exit status " status last)
			else if (!whole && !plan)
				trouble("no plan" last)
			else if (!whole && planned != seen && !fail)
				trouble("planned " planned " tests, ran " seen)
			printf "%d %d %d%s\n", pass, fail, skip, why
		}' "$1"
}

# report WHERE TEST LOG
report() {
	local name status=missing seconds=0 busy=0 pass fail skip why
	name=$(basename "$2" .sh)
	if [ -s "$3.status" ]; then
		read -r status seconds busy <"$3.status"
	fi
	touch "$3"
	{
		read -r pass fail skip
		why=$(cat)
	} < <(tally "$3" "$status")
	printf '%-5s %-24s %4d passed %3d failed %3d skipped %4d s %4d s busy\n' \
		"$1" "$name" "$pass" "$fail" "$skip" "$seconds" "${busy:-0}"
	[ -z "$why" ] || echo "$why"
	total_pass=$((total_pass + pass))
	total_fail=$((total_fail + fail))
	total_skip=$((total_skip + skip))
}

# report_events: of all lanes, line by line as they come on standard input:
#	test WHERE TEST LOG	that one has ended
#	said FILE		something to be told
#	failed FILE		a failure that is no test's
report_events() {
	local event a b c
	while read -r event a b c; do
		case $event in
		test) report "$a" "$b" "$c";;
		said) cat "$a";;
		failed) cat "$a"; total_fail=$((total_fail + 1));;
		esac
	done
}
