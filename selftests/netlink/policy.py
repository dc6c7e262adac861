#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""policy.py - what the running kernel takes is what mrc.yaml says.

    policy.py SPEC.yaml

Asks the kernel for the family's commands and policies (CTRL_CMD_GETFAMILY, CTRL_CMD_GETPOLICY) and
compares: commands and who may give them, the attributes of each request, types, ranges and lengths. An
attribute that no command takes must be read-only by the spec, and one that is read-only is
taken by none. Prints what differs.
"""
import os
import struct
import sys

import yaml

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "verbs"))
from mrc_netlink import Family, NLM_F_REQUEST, attr, attrs_of  # noqa: E402

NLM_F_DUMP, NLMSG_DONE, NLMSG_ERROR = 0x300, 3, 2
GENL_ID_CTRL, GETFAMILY, GETPOLICY = 16, 3, 10
CTRL_ID, CTRL_NAME, CTRL_OPS, CTRL_POLICY, CTRL_OP_POLICY = 1, 2, 6, 8, 9
ADMIN, DO, DUMP, UNS_ADMIN = 1, 2, 4, 0x10
TYPE, MIN_U, MAX_U, MIN_LEN, MAX_LEN, INDEX = 1, 4, 5, 6, 7, 8
TYPES = {2: "u8", 3: "u16", 4: "u32", 5: "u64", 10: "binary", 12: "string", 13: "nest"}
BITS = {"u8": 8, "u16": 16, "u32": 32, "u64": 64}
READ_ONLY = ("read-only", "in replies only", "in answers only")


def number(data):
    return int.from_bytes(data, sys.byteorder)


class Kernel(Family):
    """The family as the kernel describes it."""

    def __init__(self, name):
        super().__init__(name)
        mine, self.id = self.id, GENL_ID_CTRL
        ops = attrs_of(attrs_of(self.exchange(GETFAMILY, NLM_F_REQUEST, attr(
            CTRL_NAME, name.encode() + b"\0"))[20:])[CTRL_OPS])
        self.flags = {number(o[1]): number(o[2]) for o in map(attrs_of, ops.values())}
        self.of, self.policies = {}, {}
        self.sock.send(self.message(GETPOLICY, NLM_F_REQUEST | NLM_F_DUMP,
                                    attr(CTRL_ID, struct.pack("H", mine))))
        while not self.take(self.sock.recv(65536)):
            pass

    def message(self, cmd, flags, body):
        self.seq += 1
        return (struct.pack("IHHII", 20 + len(body), self.id, flags, self.seq, 0) +
                struct.pack("BBH", cmd, 1, 0) + body)

    def take(self, data):
        while data:
            length, kind = struct.unpack_from("IH", data)
            if kind == NLMSG_ERROR:
                raise OSError(-struct.unpack_from("i", data, 16)[0], "GETPOLICY")
            if kind == NLMSG_DONE:
                return True
            said = attrs_of(data[20:length])
            for op, ways in attrs_of(said.get(CTRL_OP_POLICY, b"")).items():
                self.of[op] = {number(i) for i in attrs_of(ways).values()}
            for index, policy in attrs_of(said.get(CTRL_POLICY, b"")).items():
                for kind, how in attrs_of(policy).items():
                    self.policies.setdefault(index, {})[kind] = attrs_of(how)
            data = data[(length + 3) & ~3:]
        return False


class Judge:
    def __init__(self, spec, kernel):
        self.spec, self.kernel, self.said = spec, kernel, []
        self.sets = {s["name"]: s for s in spec["attribute-sets"]}
        self.taken = {name: set() for name in self.sets}

    def say(self, text):
        if text not in self.said:
            self.said.append(text)

    def commands(self):
        for number_, op in enumerate(self.spec["operations"]["list"], 1):
            want = ((DO if "do" in op else 0) | (DUMP if "dump" in op else 0) |
                    (UNS_ADMIN if "uns-admin-perm" in op.get("flags", []) else 0))
            got = self.kernel.flags.get(number_, 0) & (ADMIN | DO | DUMP | UNS_ADMIN)
            if want != got:
                self.say(f"{op['name']}: flags {got:#x}, by the spec {want:#x}")
            request = {a for way in ("do", "dump") for a in
                       op.get(way, {}).get("request", {}).get("attributes", [])}
            for index in self.kernel.of.get(number_, ()):
                self.nest(op["name"], op["attribute-set"], index, request)
                if not want & UNS_ADMIN:
                    self.key(op["name"], index)

    def key(self, where, index):
        """What a get takes to restrict itself; it would ignore more."""
        for how in self.kernel.policies.get(index, {}).values():
            if INDEX in how and len(self.kernel.policies[number(how[INDEX])]) != 1:
                self.say(f"{where}: takes more of an object than its key")

    def nest(self, where, name, index, want=None):
        attrs = self.sets[name]["attributes"]
        policy = self.kernel.policies.get(index, {})
        got = {attrs[i - 1]["name"] for i in policy if i <= len(attrs)}
        if max(policy, default=0) > len(attrs):
            self.say(f"{where}: takes attribute {max(policy)}, the spec has {len(attrs)}")
        if want is not None and got != want:
            self.say(f"{where}: takes {sorted(got)}, by the spec {sorted(want)}")
        self.taken[name] |= got
        for i, how in policy.items():
            if i <= len(attrs):
                self.one(f"{where}.{attrs[i - 1]['name']}", attrs[i - 1], how)

    def one(self, where, attr_, how):
        kind = attr_["type"]
        if TYPES.get(number(how[TYPE])) != kind:
            self.say(f"{where}: type {number(how[TYPE])}, by the spec {kind}")
            return
        if kind == "nest":
            self.nest(where, attr_["nested-attributes"], number(how[INDEX]))
            return
        for what, want, got in self.bounds(attr_, how):
            if want != got:
                self.say(f"{where}: {what} {got}, by the spec {want}")

    @staticmethod
    def bounds(attr_, how):
        kind, checks = attr_["type"], attr_.get("checks", {})
        if kind in BITS:
            return (("min", checks.get("min", 0), number(how.get(MIN_U, b""))),
                    ("max", checks.get("max", 2 ** BITS[kind] - 1), number(how[MAX_U])))
        exact = checks.get("exact-len")
        return (("min-len", exact or checks.get("min-len", 0), number(how.get(MIN_LEN, b""))),
                ("max-len", exact or checks.get("max-len"), number(how.get(MAX_LEN, b"")) or None))

    def read_only(self):
        for name, set_ in self.sets.items():
            of_set = "read-only" in set_.get("doc", "").lower()
            for a in set_["attributes"]:
                own = any(w in a.get("doc", "").lower() for w in READ_ONLY)
                taken = a["name"] in self.taken[name]
                if taken and own:
                    self.say(f"{name}.{a['name']}: read-only by the spec, and some command takes it")
                if not taken and not own and not of_set and a["type"] != "pad" and name != "mrc":
                    self.say(f"{name}.{a['name']}: no command takes it, and it is not read-only")


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        spec = yaml.safe_load(f)
    judge = Judge(spec, Kernel(spec["name"]))
    judge.commands()
    judge.read_only()
    for text in judge.said:
        print(text)
    return 1 if judge.said else 0


if __name__ == "__main__":
    sys.exit(main())
