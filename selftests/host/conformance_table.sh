#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# conformance_table.sh - Documentation/reference/conformance.md names code and tests that exist.
#
# Every `path` must be there, and every `path:word` must contain the word.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."

doc=Documentation/reference/conformance.md
n=0
bad=0

# name what
wrong() {
	n=$((n + 1))
	bad=1
	echo "not ok $n - $1: $2"
}

# shellcheck disable=SC2016  # backquotes are what is looked for
named() {
	grep -o '`[a-zA-Z0-9_./-]*/[a-zA-Z0-9_.-]*\(:[A-Za-z0-9_]*\)\?`' "$doc" | tr -d '`' | sort -u
}

echo "TAP version 13"
while read -r token; do
	path=${token%%:*}
	word=${token#"$path"}
	word=${word#:}
	if [ ! -e "$path" ]; then
		wrong "$token" "no such file"
	elif [ -n "$word" ] && ! grep -qF -- "$word" "$path"; then
		wrong "$token" "the file has no such word"
	else
		n=$((n + 1))
		echo "ok $n - $token"
	fi
done < <(named)
rows=$(grep -c '^| [0-9]' "$doc")
n=$((n + 1))
if [ "$rows" -ge 60 ]; then
	echo "ok $n - the table has its rows ($rows)"
else
	wrong "the table" "only $rows rows"
	n=$((n - 1))
fi
echo "1..$n"
exit $bad
