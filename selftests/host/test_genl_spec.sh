#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# test_genl_spec.sh - mrc.yaml and uapi/linux/mrc.h say the same: every enum has
# the same names, in the same order, with the same values.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
spec=${SPEC:-$top/Documentation/netlink/specs/mrc.yaml}
header=${HEADER:-$top/uapi/linux/mrc.h}
# shellcheck source=selftests/lib/lib.sh
. "$here/../lib/lib.sh"

if ! python3 -c 'import yaml' 2>/dev/null; then
	ksft_skip_all "python3-yaml is not installed"
fi

ksft_plan 35
tmp=$(mktemp -d)
at_exit rm -rf "$tmp"

# What the YAML says, as "C_NAME VALUE" lines, one file per enum.
python3 - "$spec" "$tmp" <<'PY'
import sys, yaml

spec = yaml.safe_load(open(sys.argv[1]))
out = sys.argv[2]

def c_name(s):
    return s.upper().replace('-', '_')

def write(name, pairs):
    with open(f'{out}/{name}.yaml', 'w') as f:
        for n, v in pairs:
            print(n, v, file=f)

def entry_name(e):
    return e['name'] if isinstance(e, dict) else e

for s in spec['attribute-sets']:
    prefix = c_name(s['name-prefix'])
    pairs = [(prefix + c_name(a['name']), i) for i, a in enumerate(s['attributes'], 1)]
    if s['name'] == 'stat':     # the nest itself
        pairs[0] = ('MRC_A_STAT', 1)
    write(s['name'], pairs)

ops = spec['operations']
write('cmd', [(c_name(ops['name-prefix'] + o['name']), i)
              for i, o in enumerate(ops['list'], 1)])

prefixes = {'fmt': 'MRC_FMT_', 'mode': 'MRC_MODE_', 'nl-ev-state': 'MRC_NL_EV_',
            'event': 'MRC_EVENT_', 'nl-ep-op': 'MRC_NL_EP_', 'hint': 'MRC_HINT_', 'copy-from': 'MRC_COPY_',
            'log-kind': 'MRC_LOG_', 'log-cause': 'MRC_WHY_', 'probe-kind': 'MRC_PROBE_',
            'avoid-by': 'MRC_AVOID_'}
for d in spec['definitions']:
    if d['type'] == 'const':
        continue
    flags = d['type'] == 'flags'
    write(d['name'], [(prefixes[d['name']] + c_name(entry_name(e)), 1 << i if flags else i)
                      for i, e in enumerate(d['entries'])])
write('group', [('MRC_GENL_NAME', spec['name'])] +
      [('MRC_GENL_MCGRP_' + c_name(g['name']), g['name'])
       for g in spec['mcast-groups']['list']])
PY

# What the header says, asked of the compiler: all enumerators, in its order.
python3 - "$header" "$tmp" <<'PY'
import re, subprocess, sys

text = re.sub(r'/\*.*?\*/', '', open(sys.argv[1]).read(), flags=re.S)
out = sys.argv[2]
names = []
for body in re.findall(r'\benum\b[^{;]*\{(.*?)\}', text, flags=re.S):
    members = [m.split('=')[0].strip() for m in body.split(',') if m.strip()]
    names.append([m for m in members
                  if not (m.startswith('__') or m.endswith('_MAX') or m.endswith('_UNSPEC'))])

prog = f'#include <stdio.h>\n#include "{sys.argv[1]}"\nint main(void)\n{{\n'
for group in names:
    for n in group:
        prog += f'printf("{n} %d\\n", (int){n});\n'
    prog += 'puts("-");\n'
for n in ('MRC_GENL_NAME', 'MRC_GENL_MCGRP_EVENTS', 'MRC_GENL_MCGRP_LOG'):
    prog += f'printf("{n} %s\\n", {n});\n'
prog += '}\n'
subprocess.run(['cc', '-x', 'c', '-', '-o', f'{out}/show'], input=prog.encode(), check=True)
listing = subprocess.run([f'{out}/show'], capture_output=True, text=True, check=True).stdout

def owner(lines):
    first = lines[0].split()[0]
    for prefix, name in (('MRC_CMD_', 'cmd'), ('MRC_FMT_', 'fmt'), ('MRC_MODE_', 'mode'),
                         ('MRC_NL_EV_', 'nl-ev-state'), ('MRC_NL_EP_', 'nl-ep-op'), ('MRC_EVENT_', 'event'),
                         ('MRC_HINT_', 'hint'), ('MRC_COPY_', 'copy-from'), ('MRC_A_COPY_', 'copy'),
                         ('MRC_A_DEV_IFINDEX', 'mrc'), ('MRC_A_DEV_', 'dev'),
                         ('MRC_A_PLANE_', 'plane'), ('MRC_A_PROFILE_', 'profile'),
                         ('MRC_A_GEN_', 'gen'), ('MRC_A_FIELD_', 'field'), ('MRC_A_CC_', 'cc'),
                         ('MRC_A_EV_', 'ev'), ('MRC_A_EP_', 'ep'), ('MRC_A_PEER_', 'peer'), ('MRC_A_QP_', 'qp'),
                         ('MRC_A_STAT', 'stat'), ('MRC_A_LOG_', 'log'), ('MRC_LOG_', 'log-kind'), ('MRC_WHY_', 'log-cause'),
                         ('MRC_A_PROBES_', 'probes'), ('MRC_A_PROBE_', 'probe'), ('MRC_PROBE_', 'probe-kind'),
                         ('MRC_A_AVOIDS_', 'avoids'), ('MRC_A_AVOID_', 'avoid'), ('MRC_AVOID_', 'avoid-by'), ('MRC_GENL_', 'group')):
        if first.startswith(prefix):
            return name
    return 'unknown-' + first

for block in listing.split('-\n'):
    lines = block.splitlines()
    if lines:
        with open(f'{out}/{owner(lines)}.h', 'w') as f:
            f.write('\n'.join(lines) + '\n')
PY

for name in cmd mrc dev plane profile gen field copy copy-from cc ev peer ep qp stat fmt mode nl-ev-state nl-ep-op event hint log log-kind log-cause probes probe probe-kind avoids avoid avoid-by group; do
	if diff -u "$tmp/$name.h" "$tmp/$name.yaml" >"$tmp/diff" 2>&1; then
		ksft_pass "spec and header agree: $name"
	else
		ksft_fail "spec and header agree: $name" "$(cat "$tmp/diff")"
	fi
done

# Nothing in one that the other has no notion of.
strays=''
for f in "$tmp"/*.h; do
	[ -e "${f%.h}.yaml" ] || strays+=" ${f##*/}"
done
for f in "$tmp"/*.yaml; do
	[ -e "${f%.yaml}.h" ] || strays+=" ${f##*/}"
done
if [ -z "$strays" ]; then
	ksft_pass "no enum on one side only"
else
	ksft_fail "no enum on one side only" "$strays"
fi

# No name twice: readers of YAML take the last one, and nobody notices.
if python3 - "$spec" <<'PY2'
import collections, sys, yaml
spec = yaml.safe_load(open(sys.argv[1]))
bad = []
for what, items in [('sets', spec['attribute-sets']), ('definitions', spec['definitions']),
                    ('operations', spec['operations']['list'])] + \
                   [(s['name'], s['attributes']) for s in spec['attribute-sets']]:
    bad += [f"{what}: {n} {c} times" for n, c in
            collections.Counter(i['name'] for i in items).items() if c > 1]
for b in bad:
    print("#", b)
sys.exit(bool(bad))
PY2
then
	ksft_pass "no name twice"
else
	ksft_fail "no name twice"
fi

# The kernel's own generator (linux-source, as fetched for User-Mode Linux) takes the spec, and the header that it makes
# has our names and values. It wants the kernel's licence, and its schemas beside the spec.
source=${MRC_CACHE:-$HOME/.cache/mrc}/uml/source
generated() {
	local tree=$tmp/tree/Documentation/netlink
	mkdir -p "$tree/specs"
	touch "$tmp/tree/MAINTAINERS"
	cp "$source"/Documentation/netlink/*.yaml "$tree/"
	sed '1s/BSD-2-Clause/BSD-3-Clause/' "$spec" >"$tree/specs/mrc.yaml"
	python3 "$source/tools/net/ynl/ynl-gen-c.py" --mode uapi --header --spec "$tree/specs/mrc.yaml" \
		>"$tmp/generated.h" || return
	enumerators "$tmp/generated.h" | sed 's/^MRC_A_STAT_STAT /MRC_A_STAT /' | sort >"$tmp/by-generator"
	enumerators "$header" | sort >"$tmp/by-hand"
	diff "$tmp/by-hand" "$tmp/by-generator"
}
# enumerators HEADER: "NAME VALUE" lines, but for bounds.
enumerators() {
	python3 - "$1" "$tmp/enumerators" <<'PY3'
import re, subprocess, sys
text = re.sub(r'/\*.*?\*/', '', open(sys.argv[1]).read(), flags=re.S)
names = [m.split('=')[0].strip() for body in re.findall(r'\benum\b[^{;]*\{(.*?)\}', text, flags=re.S)
         for m in body.split(',') if m.strip()]
names = [n for n in names if not re.search(r'^__|_MAX$|_UNSPEC$', n)]
prog = f'#include <stdio.h>\n#include "{sys.argv[1]}"\nint main(void) {{\n'
prog += ''.join(f'printf("{n} %d\\n", (int){n});\n' for n in names) + '}\n'
subprocess.run(['cc', '-x', 'c', '-', '-o', sys.argv[2]], input=prog.encode(), check=True)
print(subprocess.run([sys.argv[2]], capture_output=True, text=True, check=True).stdout, end='')
PY3
}
if [ ! -e "$source/tools/net/ynl/ynl-gen-c.py" ] || ! python3 -c 'import jsonschema' 2>/dev/null; then
	ksft_skip "the kernel's generator makes the same header" "no linux-source, or no python3-jsonschema"
else
	ksft_test "the kernel's generator makes the same header" generated
fi

# Every attribute set and operation of the spec is documented or refers to one that is.
if python3 - "$spec" <<'PY'
import sys, yaml
spec = yaml.safe_load(open(sys.argv[1]))
sets = {s['name']: {a['name'] for a in s['attributes']} for s in spec['attribute-sets']}
bad = []
for s in spec['attribute-sets']:
    for a in s['attributes']:
        if a['type'] == 'nest' and a.get('nested-attributes') not in sets:
            bad.append(f"{s['name']}.{a['name']}: unknown nest")
for o in spec['operations']['list']:
    if not o.get('doc'):
        bad.append(f"{o['name']}: no doc")
    lists = [o.get('event', {})]
    for kind in ('do', 'dump'):
        lists += [o.get(kind, {}).get('request', {}), o.get(kind, {}).get('reply', {})]
    for part in lists:
        for a in part.get('attributes', []):
            if a not in sets[o['attribute-set']]:
                bad.append(f"{o['name']}: unknown attribute {a}")
for b in bad:
    print("#", b)
sys.exit(bool(bad))
PY
then
	ksft_pass "the spec refers to what exists"
else
	ksft_fail "the spec refers to what exists"
fi
ksft_finish
