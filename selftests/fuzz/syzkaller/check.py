#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""check.py ABI_HEADER DESCRIPTION... - do descriptions (syzlang) say what the header says?

Prints a line "ok TEXT" or "bad TEXT" for each struct of the header: its fields by name and order, and its size as the
compiler has it; and one for each description: every type that it names is defined in one of them, built in, or
of syzkaller's own files.
"""
import re
import subprocess
import sys

INTS = {"int8": 1, "int16": 2, "int32": 4, "int64": 8, "ptr64": 8, "fd": 4}
BUILT_IN = set(INTS) | {"array", "const", "flags", "ptr", "len", "bytesize", "bytesize4", "bytesize8", "string",
                        "vma", "in", "out", "inout", "parent", "void", "opt"}
# sys/linux/{sys,socket_netlink,vnet,dev_infiniband_rdma}.txt
THEIRS = {"devname", "ipv6_addr", "nlattr", "nlnest", "msghdr_netlink", "netlink_msg_t", "genlmsghdr_t",
          "sock_nl_generic", "send_flags", "mmap_prot", "mmap_flags", "fd_rdma", "pd_handle", "cq_handle",
          "qp_handle", "srq_handle"}


def header_structs(path):
    """Name: field names in order, those of unnamed unions and structs among them."""
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    for m in re.finditer(r"^struct (\w+) \{(.*?)^\};", text, flags=re.S | re.M):
        names = []
        for decl in re.findall(r"^\s*__\w+ ([^;{}]+);", m.group(2), flags=re.M):
            names += [re.sub(r"\[.*", "", n).strip() for n in decl.split(",")]
        yield m.group(1), names


def sizes(path, names):
    code = f'#include <stdio.h>\n#include "{path}"\nint main(void) {{\n'
    code += "".join(f'printf("%zu\\n", sizeof(struct {n}));\n' for n in names) + "return 0; }\n"
    exe = subprocess.run(["mktemp"], capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run(["cc", "-x", "c", "-o", exe, "-"], input=code, text=True, check=True)
    out = subprocess.run([exe], capture_output=True, text=True, check=True).stdout.split()
    subprocess.run(["rm", "-f", exe], check=True)
    return dict(zip(names, map(int, out)))


class Lang:
    def __init__(self, paths):
        self.text = {}
        self.structs, self.unions, self.size_of = {}, {}, {}
        self.template_fields = set()
        for path in paths:
            with open(path, encoding="utf-8") as f:
                self.text[path] = re.sub(r"^#.*", "", f.read(), flags=re.M)
            self.read(self.text[path])

    def read(self, text):
        for m in re.finditer(r"^(\w+) ([{\[])\n(.*?)^[}\]]", text, flags=re.S | re.M):
            fields = [line.split(None, 1) for line in m.group(3).strip().split("\n")]
            (self.structs if m.group(2) == "{" else self.unions)[m.group(1)] = fields
        for body in re.findall(r"^type \w+\[[^\]]*\] \{\n(.*?)^\}", text, flags=re.S | re.M):
            self.template_fields |= {line.split(None, 1)[0] for line in body.strip().split("\n")}
        for name, base in re.findall(r"^resource (\w+)\[(\w+)\]", text, flags=re.M):
            self.size_of[name] = INTS[base]

    def size(self, what):
        head = re.match(r"\w+", what).group(0)
        args = re.findall(r"[^\[\],]+(?:\[[^\]]*\])?", what[len(head):].strip("[]") if "[" in what else "")
        if head in INTS:
            return INTS[head]
        if head in self.size_of:
            return self.size_of[head]
        if head in ("const", "flags", "len", "bytesize"):
            return INTS[args[-1].strip()]
        if head == "array":
            inner, count = what[6:-1].rsplit(",", 1)
            return self.size(inner.strip()) * int(count)
        if head in self.unions:
            return max(self.size(t) for _, t in self.unions[head])
        return sum(self.size(t) for _, t in self.structs[head])

    def fields(self, name):
        """In order, with those of members that are structs or unions of the header's unnamed ones."""
        out = []
        for field, what in self.structs[name]:
            if what in self.unions:
                out += [f for _, t in self.unions[what] for f in self.fields(t)]
            else:
                out.append(field)
        return out

    def undefined(self, path):
        text = re.sub(r'"[^"]*"|^include.*', "", self.text[path], flags=re.M)
        known = set(self.structs) | set(self.unions) | set(self.size_of) | BUILT_IN | THEIRS
        for t in self.text.values():
            known |= set(re.findall(r"^(\w+) = ", t, flags=re.M)) | set(re.findall(r"^type (\w+)", t, flags=re.M))
        # Types stand behind a field's name, or in the brackets of another; fields and constants do not count.
        named = set()
        for line in text.split("\n"):
            if re.match(r"\t\w+\s", line):
                named |= set(re.findall(r"[a-z]\w*", line.split(None, 1)[1]))
        members = {f for s in list(self.structs.values()) + list(self.unions.values()) for f, _ in s}
        members |= self.template_fields
        return sorted(n for n in named - known - members if not re.match(r"0?x[0-9a-f]+$", n))


def main():
    header, *paths = sys.argv[1:]
    lang = Lang(paths)
    structs = dict(header_structs(header))
    size = sizes(header, list(structs))
    for name, fields in structs.items():
        if name not in lang.structs:
            print(f"bad struct {name} is not described")
            continue
        good = lang.fields(name) == fields and lang.size(name) == size[name]
        print(f"{'ok' if good else 'bad'} struct {name}: {len(fields)} fields, {size[name]} bytes")
        if not good:
            print(f"bad described: {lang.fields(name)}, {lang.size(name)} bytes; header: {fields}")
    for path in paths:
        missing = lang.undefined(path)
        even = all(lang.text[path].count(a) == lang.text[path].count(b) for a, b in ("[]", "{}", "()"))
        print(f"{'bad' if missing or not even else 'ok'} {path.rsplit('/', 1)[1]}: brackets and names of types"
              f"{'; undefined: ' + ' '.join(missing) if missing else ''}")


if __name__ == "__main__":
    main()
