#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""genl.py SPEC - prints syzkaller's description (syzlang) of the netlink family that a YAML spec describes.

mrc_genl.txt is its output for Documentation/netlink/specs/mrc.yaml; selftests/host/test_syzlang.sh compares the
two. Read-only attributes are there as well: the kernel refuses them in requests, which is to be fuzzed, too.
"""
import sys

import yaml

HEAD = """# SPDX-License-Identifier: GPL-2.0
# The netlink family "mrc". Made by genl.py; do not edit.

include <uapi/linux/netlink.h>
include <uapi/linux/genetlink.h>
include <uapi/linux/mrc.h>

resource genl_mrc_family_id[int16]

type msghdr_mrc[CMD] msghdr_netlink[netlink_msg_t[genl_mrc_family_id, genlmsghdr_t[CMD], mrc_policy]]

syz_genetlink_get_family_id$mrc(name ptr[in, string["mrc"]], fd sock_nl_generic (opt)) genl_mrc_family_id

"""
INT = {"u8": "int8", "u16": "int16", "u32": "int32", "u64": "int64"}


def c_name(text):
    return text.upper().replace("-", "_")


def number(attr, spec):
    """An integer: one of an enum's values, one of a range, or any."""
    checks = attr.get("checks", {})
    if "enum" in attr:
        return f"flags[mrc_{attr['enum'].replace('-', '_')}, {INT[attr['type']]}]"
    if "max" in checks:
        return f"{INT[attr['type']]}[{checks.get('min', 0)}:{checks['max']}]"
    return INT[attr["type"]]


def value(attr, spec):
    if attr["type"] in INT:
        return number(attr, spec)
    if attr["type"] == "string":
        return "devname" if attr["name"] in ("dev-name", "ifname") else "string"
    size = attr.get("checks", {}).get("exact-len")
    if size == 16:
        return "ipv6_addr"
    return f"array[int8, {size}]" if size else "array[int8]"


def attribute(attr, prefix, own, spec):
    # MRC_A_STAT is the one whose name is its set's own.
    name = c_name(prefix + attr["name"]).replace("MRC_A_STAT_STAT", "MRC_A_STAT")
    if attr["type"] != "nest":
        return f"\t{name}\tnlattr[{name}, {value(attr, spec)}]\n"
    inner = attr["nested-attributes"]
    if inner == own:    # types may not contain themselves
        return f"\t{name}\tnlattr[{name}, array[int8]]\n"
    return f"\t{name}\tnlnest[{name}, array[{policy(inner)}]]\n"


def policy(name):
    return "mrc_policy" if name == "mrc" else f"mrc_{name.replace('-', '_')}_policy"


def enum(e):
    prefix = c_name(e.get("name-prefix", f"mrc-{e['name']}-"))
    names = [x["name"] if isinstance(x, dict) else x for x in e["entries"]]
    return f"mrc_{e['name'].replace('-', '_')} = {', '.join(prefix + c_name(n) for n in names)}\n"


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        spec = yaml.safe_load(f)
    out = HEAD
    for op in spec["operations"]["list"]:
        if "do" in op or "dump" in op:
            cmd = c_name(spec["operations"]["name-prefix"] + op["name"])
            out += f"sendmsg${cmd}(fd sock_nl_generic, msg ptr[in, msghdr_mrc[{cmd}]], f flags[send_flags])\n"
    used = set()
    for group in spec["attribute-sets"]:
        out += f"\n{policy(group['name'])} [\n"
        for attr in group["attributes"]:
            if attr["type"] == "pad":
                continue
            used.add(attr.get("enum"))
            out += attribute(attr, group["name-prefix"], group["name"], spec)
        out += "] [varlen]\n"
    out += "\n" + "".join(enum(e) for e in spec["definitions"] if e["name"] in used)
    sys.stdout.write(out)


if __name__ == "__main__":
    main()
