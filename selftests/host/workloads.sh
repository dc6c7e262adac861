#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# lane: 2
# timeout: 300
#
# Workloads from outside in mrcsim: flow lists and GOAL traces, one result whatever the form or the number of threads,
# and what is wrong with a file by line.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"
export PYTHONDONTWRITEBYTECODE=1
tmp=$(mktemp -d)
at_exit rm -rf "$tmp"
sim=$MRC_TOP/build/sim/gcc/mrcsim

# scenario FILE: runs FILE of $tmp on 16 hosts; options follow.
run() {
	cat >"$tmp/s.toml" <<-END
	[fabric]
	hosts = 16
	hosts_per_t0 = 4
	t1s = 4
	[workload]
	kind = "trace"
	file = "$1"
	END
	"$sim" run "$tmp/s.toml" "${@:2}"
}

# metric FILE NAME
metric() {
	run "$1" | awk -v name="$2" '$1 == name { print $2 }'
}

pattern() {
	local one two
	"$sim" workload "$1" --ranks 8 --bytes 400000 --compute-us 2 >"$tmp/$1.csv" || return
	run "$1.csv" | tee "$tmp/$1.said" || return
	one=$(run "$1.csv" --hash) two=$(run "$1.csv" --hash --threads 2)
	[[ $one = "$two" && $one =~ ^[0-9a-f]{16}$ ]] && ! grep -q unfinished "$tmp/$1.said" &&
		awk '$1 == "job_us" { job = $2 } $1 == "job_alone_us" { alone = $2 } $1 == "job_compute_us" { compute = $2 }
		     END { exit !(compute > 0 && compute < alone && alone <= job && job < 4 * alone) }' "$tmp/$1.said"
}

# Three messages and a computation in all three forms.
forms() {
	printf 'id,src,dst,bytes,after,compute_us\n1,0,1,50000,,1.5\n2,1,2,60000,1,\n3,2,2,,2,4\n4,2,0,70000,3,\n' >"$tmp/f.csv"
	cat >"$tmp/f.jsonl" <<-'END'
	{"id": 4, "src": 2, "dst": 0, "bytes": 70000, "after": [3]}
	{"id": 1, "src": 0, "dst": 1, "bytes": 50000, "compute_us": 1.5}

	{"src": 1, "dst": 2, "bytes": 60000, "after": [1], "id": 2}
	{"id": 3, "src": 2, "dst": 2, "after": 2, "compute_us": "4"}
	END
	cat >"$tmp/f.goal" <<-'END'
	num_ranks 3
	rank 0 {   // a comment
	a: calc 1500 cpu 0
	b: send 50000b to 1 tag 3 cpu 0 nic 0
	b requires a
	recv 70000b from 2
	}
	/* another,
	   of two lines */
	rank 1 {
	r: recv 50000b from 0 tag 3
	s: send 60000b to 2 tag 4
	s requires r
	}
	rank 2 {
	r: recv 60000b from 1 tag 4
	c: calc 4000
	s: send 70000b to 0
	c requires r
	s requires c
	}
	END
	local csv json goal
	csv=$(metric f.csv job_us) json=$(metric f.jsonl job_us) goal=$(metric f.goal job_us)
	echo "$csv $json $goal"
	[[ -n $csv && $csv = "$json" && $csv = "$goal" && $(metric f.csv job_compute_us) = 5.5000 ]]
}

# A receive that begins is enough; one that ends takes the message's time.
begun() {
	local kind
	for kind in requires irequires; do
		cat >"$tmp/$kind.goal" <<-END
		num_ranks 2
		rank 0 {
		s: send 1000000b to 1
		}
		rank 1 {
		r: recv 1000000b from 0
		c: calc 100000
		c $kind r
		}
		END
	done
	[ "$(metric irequires.goal job_us)" = 100 ] && awk -v t="$(metric requires.goal job_us)" 'BEGIN { exit !(t > 180) }'
}

# goal NAME RANK0 RANK1 [RANK2]: a trace of these ranks, their operations split at semicolons.
goal() {
	local rank=0 text
	{
		echo "num_ranks $(($# - 1))"
		for text in "${@:2}"; do
			printf 'rank %d {\n%s\n}\n' $((rank++)) "${text//;/$'\n'}"
		done
	} >"$tmp/$1.goal"
}

# flows FILE: source and start of each message, us.
flows() {
	run "$1" --json >"$tmp/flows.json" && python3 - "$tmp/flows.json" <<-'END'
	import json, sys
	r = json.load(open(sys.argv[1]))["flows"]
	for row in r["rows"]:
	    flow = dict(zip(r["fields"], row))
	    if flow["src"] != flow["dst"]:
	        print(flow["src"], flow["start_us"], flow["fct_us"])
	END
}

# job WANTED OPERATIONS...: job_us of the trace.
job() {
	local said
	goal job "${@:2}"
	said=$(metric job.goal job_us)
	echo "$said, wanted $1: ${*:2}"
	awk -v said="$said" -v wanted="$1" 'BEGIN { exit !(said >= wanted && said < wanted + 10) }'
}

# Of a rank and a cpu, the next waits for the end of a computation, in the order in which they become ready.
processors() {
	job 150 'calc 100000;calc 50000' &&
		job 100 'calc 100000;calc 50000 cpu 1' &&
		job 100 'calc 100000;send 1000b to 1' 'recv 1000b from 0' &&
		job 50 'calc 50000 cpu 7;send 1000b to 1' 'calc 20000;recv 1000b from 0' &&
		job 130 'send 1000b to 1' 'calc 100000;r: recv 1000b from 0;c: calc 30000 cpu 1;c requires r' &&
		job 100 'send 1000b to 1' 'calc 100000;r: recv 1000b from 0 cpu 1;c: calc 30000 cpu 1;c requires r' &&
		# b is ready before c: 10 + 40, then c's 5 and what waits for it, at another cpu.
		job 95 'a: calc 10000;b: calc 40000;c: calc 5000;d: calc 40000 cpu 1;x: calc 20000 cpu 2;c requires x;d requires c' &&
		job 70 'a: calc 10000;b: calc 40000;c: calc 5000;d: calc 55000 cpu 1;x: calc 20000 cpu 2;b requires x;d requires c' &&
		[ "$(metric job.goal job_alone_us) $(metric job.goal job_compute_us)" = "70 70" ]
}

# Of a rank and a nic, the next send begins when the links could have sent the one before: 1 MB at 100 Gb/s, 80 us.
nics() {
	local two
	two='send 1000000b to 1;send 1000000b to 2'
	goal nics "$two" 'recv 1000000b from 0' 'recv 1000000b from 0'
	flows nics.goal | tee "$tmp/said" &&
		awk '{ n++; d = $2 - d } END { exit !(n == 2 && d > 80 && d < 90) }' "$tmp/said" || return
	goal nics "$two nic 1" 'recv 1000000b from 0' 'recv 1000000b from 0'
	flows nics.goal | tee "$tmp/said" && awk '{ n++; d = $2 - d } END { exit !(n == 2 && d == 0) }' "$tmp/said" &&
		[ "$(run nics.goal --hash)" = "$(run nics.goal --hash --threads 2)" ]
}

# Steps: as many as the list says, each with what it lost.
steps() {
	"$sim" workload ring --ranks 4 --bytes 400000 >"$tmp/ring.csv"
	run ring.csv --json --brief >"$tmp/ring.json" && python3 - "$tmp/ring.json" <<-'END'
	import json, sys
	r = json.load(open(sys.argv[1]))
	rows = [dict(zip(r["steps"]["fields"], row)) for row in r["steps"]["rows"]]
	assert [s["step"] for s in rows] == [1, 2, 3, 4, 5, 6] and all(s["flows"] == 4 for s in rows), rows
	assert all(0 <= s["lost_us"] and s["begin_us"] < s["end_us"] for s in rows), rows
	assert abs(r["metrics"]["job_us"] - rows[-1]["end_us"]) < 0.001, (r["metrics"]["job_us"], rows[-1])
	END
}

# As ui.perfetto.dev reads it: 24 messages at their hosts, none over another one in a row, and what is no report.
timeline() {
	local rc=0 said
	"$sim" workload ring --ranks 4 --bytes 400000 >"$tmp/ring.csv"
	run ring.csv --json >"$tmp/ring.json" && "$sim" timeline "$tmp/ring.json" >"$tmp/trace.json" &&
		"$sim" timeline <"$tmp/ring.json" | cmp - "$tmp/trace.json" && python3 - "$tmp/trace.json" "$tmp/ring.json" <<-'END' || return
	import json, sys
	trace, report = json.load(open(sys.argv[1]))["traceEvents"], json.load(open(sys.argv[2]))
	hosts = {e["pid"]: e["args"]["name"] for e in trace if e["ph"] == "M"}
	sent = [e for e in trace if e["ph"] == "X" and hosts[e["pid"]].startswith("host ")]
	flows = sorted((f[0], f"to {f[1]}", f[3], f[4]) for f in report["flows"]["rows"])
	assert sorted((e["pid"], e["name"], e["ts"], e["dur"]) for e in sent) == flows and len(flows) == 24, sent
	assert sum(e["name"].startswith("step ") for e in trace) == 6 and any(e["ph"] == "C" for e in trace)
	ends = {}
	for e in sorted((e for e in trace if e["ph"] == "X"), key=lambda e: e["ts"]):
	    assert ends.get((e["pid"], e["tid"]), 0) <= e["ts"], e
	    ends[e["pid"], e["tid"]] = e["ts"] + e["dur"]
	END
	said=$("$sim" timeline "$tmp/ring.csv" 2>&1) || rc=$?
	echo "$rc $said"
	[[ $rc -eq 2 && $said == *"ring.csv: no report"* && $said != *Traceback* ]]
}

# refused NAME TEXT WORDS
refused() {
	local rc=0 said
	printf '%b' "$2" >"$tmp/$1"
	said=$(run "$1" 2>&1) || rc=$?
	echo "$rc $said"
	[[ $rc -eq 2 && $said == *"$tmp/$1:$3"* ]]
}

# A path that leads nowhere, and a name that says no form.
files() {
	local said
	said=$(run nothing.csv 2>&1) && return 1
	[[ $said == *"nothing.csv: cannot be opened"* ]] || return
	said=$(run x.txt 2>&1) && return 1
	[[ $said == *"ends in .csv"* ]]
}

# By callbacks a message leaves up to a window of 1 us later: 14 steps, and one more to begin with.
library() {
	local took again
	make -s -C "$MRC_TOP/tools/sim/lib" >&2 || return
	printf '[fabric]\nhosts = 16\nhosts_per_t0 = 4\nt1s = 4\n[workload]\nkind = "calls"\n' >"$tmp/calls.toml"
	"$sim" workload ring --ranks 8 --bytes 400000 --compute-us 2 >"$tmp/ring.csv"
	took=$("$sim-ring" "$tmp/calls.toml" 8 400000 2000) again=$("$sim-ring" "$tmp/calls.toml" 8 400000 2000)
	echo "$took; as a flow list $(metric ring.csv job_us)"
	[ "$took" = "$again" ] && awk -v a="${took#job_us }" -v b="$(metric ring.csv job_us)" \
		'BEGIN { exit !(b > 100 && a >= b && a <= b + 15) }'
}

# Hosts that are not there, another kind of workload, and the scenario's limit.
library_refuses() {
	local said
	said=$("$sim-ring" "$tmp/calls.toml" 17 400000 0 2>&1) && return 1
	[[ $said == *"fewer hosts"* ]] || return
	run ring.csv >"$tmp/said"
	said=$("$sim-ring" "$tmp/s.toml" 8 400000 0 2>&1) && return 1
	[[ $said == *"is not \"calls\""* ]] || return
	printf '[run]\nlimit_us = 20\n' >>"$tmp/calls.toml"
	said=$("$sim-ring" "$tmp/calls.toml" 8 400000 0 2>&1) && return 1
	[[ $said == *"limit"* ]]
}

ksft_plan
make -s -C "$MRC_TOP/tools/sim" >&2
ksft_test "lists of collectives" python3 "$here/../sim/test_workload.py"
for name in ring tree double-tree halving-doubling alltoall pipeline; do
	ksft_test "$name" pattern $name
done
ksft_test "CSV, JSON lines and GOAL: one job, one time" forms
ksft_test "requires and irequires" begun
ksft_test "GOAL: operations of a cpu take turns" processors
ksft_test "GOAL: sends of a nic take turns" nics
ksft_test "a report of steps" steps
ksft_test "a timeline for Perfetto" timeline
ksft_test "no file" files
ksft_test "libmrcsim: the same ring by callbacks" library
ksft_test "libmrcsim: what is refused" library_refuses
head='id,src,dst,bytes,after\n'
while IFS='|' read -r name text words; do
	ksft_test "refused: $text" refused "$name" "$text" "$words"
done <<END
a.csv|${head}1,0,1,10,2\n2,1,0,10,1\n|2: waits for itself
a.csv|${head}1,0,1,10,9\n|2: after: no flow has the id 9
a.csv|${head}1,0,1,10,\n1,1,0,10,\n|3: id: 1 is that of line 2
a.csv|${head}1,0,16,10,\n|2: dst: "16" is no whole number from 0 to 15
a.csv|${head}1,0,1,-5,\n|2: bytes: "-5" is no whole number
a.csv|${head}1,0,1,0,\n|2: bytes: 0
a.csv|${head}1,0,1\n|2: 3 columns, and the head has 5
a.csv|${head}1,0,1,10,\n2,2,3,10,1\n|3: after: host 2 takes no part in the flow of line 2
a.csv|${head}1,0,1,10,x\n|2: after: "x" is no id
a.csv|id,src,dst,bytes,compute_us\n1,0,1,10,-3\n|2: compute_us: "-3" is no time
a.csv|id,src,dst,bytes,compute_us\n1,0,1,10,nan\n|2: compute_us: "nan" is no time
a.csv|id,source\n|1: "source": no such column
a.csv|id,id\n|1: "id": twice
a.csv|${head}"1,0,1,10,\n|2: a quotation mark is not closed
a.csv|${head}|2: nothing to do
a.jsonl|{"id": 1, "src": 0, "dst": 1}\n|1: bytes: missing
a.jsonl|{"id": 1, "src": 0\n|1: '}' is wanted at column
a.jsonl|{"id": 1} {}\n|1: more than one object
a.jsonl|{"id": 1, "id": 2}\n|1: id: twice
a.jsonl|{"id": 1, "after": [1,]}\n|1: a number is wanted
a.goal|rank 0 {\n|1: num_ranks comes first
a.goal|num_ranks 17\n|1: num_ranks: "17" is no number from 0 to 16
a.goal|num_ranks 2\nrank 0 {\nsend 5b to 1\n}\n|3: nobody receives this message
a.goal|num_ranks 2\nrank 0 {\nrecv 5b from 1\n}\n|3: nobody sends this message
a.goal|num_ranks 2\nrank 0 {\na: calc 5\na requires b\n}\n|4: "b": no such label
a.goal|num_ranks 2\nrank 0 {\na: calc 5\na: calc 6\n}\n|4: "a": this label is there already
a.goal|num_ranks 2\nrank 0 {\na: calc 5\nb: calc 6\na requires b\nb requires a\n}\n|3: waits for itself
a.goal|num_ranks 2\nrank 0 {\nsend 9b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n|6: receives 8 bytes, and line 3 sends 9
a.goal|num_ranks 2\nrank 0 {\nsend 9b from 1\n}\n|3: send ... to
a.goal|num_ranks 2\nrank 0 {\n|3: the last rank is not closed
END
ksft_finish
