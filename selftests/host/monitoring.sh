#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Metrics as promtool reads them; alerts with their tests; dashboards, which keep the rules of Grafana's schema, and
# each of whose questions must parse and ask for what mrcd tells.
#
# timeout: 300
# lane: 2

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
top=$here/../..
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"

ksft_plan ""
tmp=$(mktemp -d)
at_exit rm -rf "$tmp"
"$here/../vm/promtool.sh" get || true
promtool=$("$here/../vm/promtool.sh")
[ -n "$promtool" ] || ksft_skip_all "needs Debian's package prometheus, which cannot be fetched"
make -s -C "$here/../daemon" >"$tmp/make" 2>&1 || ksft_fail "the unit tests build" "$(cat "$tmp/make")"

# questions OUT: rules of all questions of the dashboards. Grafana's own variables become what they stand for.
questions() {
	python3 - "$top/tools/monitoring" "$tmp/exposition" "$1" <<'EOF'
import glob, json, re, sys
folder, exposition, out = sys.argv[1:]
text = open(exposition).read()
told = set(re.findall(r"^# TYPE (\S+)", text, re.M))
values = {}
for label, value in re.findall(r'(\w+)="([^"]*)"', text):
    values.setdefault(label, set()).add(value)
asked = []
for path in sorted(glob.glob(folder + "/grafana/*.json")):
    board = json.load(open(path))
    asked += [(path, t["expr"]) for p in board["panels"] for t in p["targets"]]
assert len(asked) > 20, asked
alerts = open(folder + "/alerts.yml").read()
for path, expr in asked + [("alerts.yml", alerts)]:
    for name in set(re.findall(r"\bmrcd?_[a-z_]+\b", expr)):
        assert name in told, (path, name, "is a metric that mrcd does not tell")
    for label, value in re.findall(r'\b(state|cause|check|hint)="(\w[^"]*)"', expr):
        assert value in values[label], (path, label, value)
rules = [{"record": f"question:{n}", "expr": expr.replace("$__rate_interval", "5m").replace("$instance", "h1")}
         for n, (_, expr) in enumerate(asked)]
json.dump({"groups": [{"name": "questions", "rules": rules}]}, open(out, "w"))  # JSON is YAML
EOF
}

each_alert_is_tested() {
	local name
	sed -n 's/.*alert: //p' "$top/tools/monitoring/alerts.yml" | while read -r name; do
		grep -q "\b$name\b" "$top/tools/monitoring/alerts_test.yml" || { echo "no test of $name"; return 1; }
	done
}

finds_stray() { ! questions "$tmp/stray.yml" 2>"$tmp/why" && grep -q mrc_qps "$tmp/why"; }

ksft_test "metrics of a host" env MRC_EXPOSITION="$tmp/exposition" "$top/build/daemon-test/mrcd_tests" --gtest_filter='web.metrics*'
ksft_test "as Prometheus wants them" sh -c "'$promtool' check metrics <'$tmp/exposition'"
ksft_test "alerts" "$promtool" check rules "$top/tools/monitoring/alerts.yml"
ksft_test "each has a test" each_alert_is_tested
ksft_test "their tests" sh -c "cd '$top/tools/monitoring' && '$promtool' test rules alerts_test.yml"
boards=("$top"/tools/monitoring/grafana/*.json)
ksft_test "dashboards are as Grafana's schema wants them" "$here/dashboards.py" --told "$tmp/exposition" "${boards[@]}"
ksft_test "(each way to break them is found)" "$here/dashboards.py" --told "$tmp/exposition" --mutants "${boards[@]}"
ksft_test "they ask for what is told" questions "$tmp/questions.yml"
ksft_test "in questions that parse" "$promtool" check rules "$tmp/questions.yml"
sed 's/mrc_qps/mrc_qpz/' "$tmp/exposition" >"$tmp/other" && mv "$tmp/other" "$tmp/exposition"
ksft_test "a metric that is not told is found" finds_stray
ksft_finish
