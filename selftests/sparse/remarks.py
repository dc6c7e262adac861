#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""remarks.py KERNEL - what sparse says of the module's files as they were compiled in build/KERNEL, "FILE: REMARK" by line.

Kbuild compiles a folder at once (compat/.have); so does this.

Kbuild's C=2 wants a script that Debian's headers do not have, and leaves sparse out without an error. So the flags come
from what Kbuild noted of each file (.NAME.o.cmd). Headers of a newer Debian lie in a root of their own.
"""
import glob
import os
import re
import shlex
import subprocess
import sys

# As the kernel's Makefile has them.
FLAGS = ("-D__linux__ -Dlinux -D__STDC__ -Dunix -D__unix__ -Wbitwise -Wno-return-void -Wno-unknown-attribute "
         "-D__x86_64__ --arch=x86 -mlittle-endian -m64").split()
# What headers of Linux 7 want and sparse 0.6.4 does not know: the length of a literal as a constant, and C23.
FLAGS += ["-D__builtin_strlen(x)=(sizeof(x)-1)", "-D__typeof_unqual__=__typeof__"]


def compiled(tree):
    """(folder, flags, source) of each file of ours."""
    with open(os.path.join(os.path.dirname(tree), "kdir")) as f:
        kdir = f.read().strip()
    root = kdir[:kdir.index("/usr/src/")]
    for name in sorted(glob.glob(tree + "/**/.*.o.cmd", recursive=True) + glob.glob(tree + "/compat/.have/.*.o.cmd")):
        with open(name) as f:
            line = f.readline()
        command = re.match(r"(?:saved)?cmd_\S+ :=\s+\S+ (.*) -c -o \S+ (\S+\.c)\s*(;.*)?$", line)
        if not command or command[2].endswith(".mod.c") or "/scripts/" in command[2]:
            continue
        if not os.path.exists(os.path.join(tree, command[2])):
            continue    # of a file that went
        flags = shlex.split(re.sub(r"(?<=[ I])/usr/src/", root + "/usr/src/", command[1]))
        yield kdir if command[2].startswith("/") else tree, flags, command[2]


def main():
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    tree = os.path.join(os.environ.get("MRC_SPARSE_TOP", top), "build", sys.argv[1], "kernel")
    files, others, remarks = 0, 0, set()
    for folder, flags, source in compiled(tree):
        said = subprocess.run(["sparse", *FLAGS, *flags, source], cwd=folder, capture_output=True, text=True)
        files += 1
        if said.returncode and not said.stderr:
            sys.exit(f"{source}: sparse ended with {said.returncode}")
        for line in said.stderr.splitlines():
            where = re.match(r"(\S+?):\d+:\d+: (.*)", line)
            if not where and ": note: in included file" in line:
                continue
            if not where:
                sys.exit(f"{source}: {line}")
            path = os.path.relpath(os.path.join(folder, where[1]), tree)
            if path.startswith("../../") or path.startswith("/"):
                others += 1     # a header of the kernel's
            else:
                remarks.add(f"{path}: {where[2]}")
    print(f"{files} files, {others} remarks on the kernel's own headers", file=sys.stderr)
    if not files:
        sys.exit(f"nothing is compiled in {tree}")
    for remark in sorted(remarks):
        print(remark)


main()
