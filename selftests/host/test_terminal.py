#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""test_terminal.py - "make shell" as someone at a terminal sees it.

    test_terminal.py RUNVM LAB_VM       one TAP line for each thing that a person would notice

RUNVM and LAB_VM are the scripts of those names. Keys are typed into a pseudo-terminal, and text is
waited for. There is no time limit here: slowness never fails, and a test that hangs is ended from outside.
"""
import errno
import fcntl
import os
import pty
import re
import struct
import sys
import tempfile
import termios

CONTROL = re.compile(rb"\x1b\[[?0-9;]*[A-Za-z]|\r")
PROMPT = r"lab# "
# A key that comes before the program has the terminal is bash's.
SLEEPS = "sh -c 'echo st''arted; exec sleep 86400'"


class Ended(Exception):
    """The program has closed the terminal."""


class Terminal:
    def __init__(self, command, rows, columns):
        self.raw = b""
        self.at = 0             # what was waited for ends here, in text()
        size = struct.pack("HHHH", rows, columns, 0, 0)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            fcntl.ioctl(0, termios.TIOCSWINSZ, size)
            os.execvp(command[0], command)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def keys(self, text):
        os.write(self.fd, text.encode())

    def read(self):
        try:
            data = os.read(self.fd, 65536)
        except OSError as e:
            if e.errno != errno.EIO:
                raise
            data = b""
        if not data:
            raise Ended
        self.raw += data

    def text(self):
        return CONTROL.sub(b"", self.raw).decode(errors="replace")

    def wait_for(self, pattern):
        """What was written since, up to the end of the first match."""
        while not (match := re.compile(pattern, re.S).search(self.text(), self.at)):
            self.read()
        start, self.at = self.at, match.end()
        return self.text()[start:self.at]

    def line(self, command, pattern):
        """Types a command; what it printed, up to the next prompt behind the pattern."""
        self.keys(command + "\r")
        return self.wait_for(pattern + r".*?\n" + PROMPT)

    def status(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def ended(self):
        """The exit status, after the rest of the output."""
        try:
            while True:
                self.read()
        except Ended:
            return self.status()

    def hang_up(self):
        """The window is closed."""
        os.close(self.fd)
        return self.status()


count = failed = 0


def check(name, good, why=""):
    global count, failed
    count += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {count} {name}", flush=True)
    if not good:
        print("\n".join(f"# {line}" for line in str(why).splitlines()), flush=True)


def lab(t):
    t.wait_for(PROMPT)
    check("a prompt", True)
    check("the size of the window", "30 100" in t.line("stty size", r"\n30 100"))
    t.resize(40, 120)
    t.line('until [ "$(stty size)" = "40 120" ]; do sleep 1; done; echo it has be""come larger', "become larger")
    check("the window becomes larger", True)
    t.keys(SLEEPS + "; echo sle''pt\r")
    t.wait_for("\nstarted\n")
    t.keys("\x03")
    check("Ctrl-C ends a program", "slept" not in t.wait_for(r"\^C.*?" + PROMPT))
    t.keys(SLEEPS + "\r")
    t.wait_for("\nstarted\n")
    t.keys("\x1a")
    t.wait_for("Stopped.*?" + PROMPT)
    check("Ctrl-Z stops a program, and bg goes on with it",
          "Running" in t.line("bg; jobs; kill %1", r"Running +sh -c [^\n]* &"))
    check("help", "heal p2" in t.line("help", "exit ends the machine"))
    t.line("cut p2", "h1 sees the link go down")
    seen = t.line("ip -n h2 -br link show eth2; ip -n p2 -br link show; ip -n h1 -br link show eth2", "eth2.*eth2")
    h2, h1 = (row for row in seen.splitlines() if row.startswith("eth2"))
    check("cut p2: h1's link goes down, h2's does not", "NO-CARRIER" in h1 and "LOWER_UP" in h2, seen)
    t.line("heal p2", "plane 2 works again")
    t.line("until ip -n h1 -br link show eth2 | grep LOWER_UP; do sleep 1; done", r"eth2\S* +UP")
    check("heal p2: h1's link is up", True)
    t.keys("h1\r")
    t.wait_for("\nh1# ")
    t.keys("ip -br link show eth1\r")
    seen = t.wait_for(r"show eth1\n.*?\nh1# ")
    check("a shell on h1", re.search(r"^eth1\S* +UP", seen, re.M), seen)
    t.keys("exit\r")
    t.wait_for(PROMPT)
    t.keys("exit\r")


def main(runvm, lab_vm):
    os.environ["MRC_LAB"] = "planes"
    with tempfile.TemporaryDirectory() as out:
        vm = [runvm, "-i", "-k", "6.1", "-m", "1024", "-c", "1", "-t", "86400", "-o", out, "--"]
        t = Terminal(vm + [lab_vm], 30, 100)
        try:
            lab(t)
        except Ended:
            check("the machine lives until exit", False, t.text()[-3000:])
        status = t.ended()
        check("exit ends the machine", status == 0, f"status {status}\n{t.text()[-3000:]}")
        t = Terminal(vm + ["bash", "--norc"], 24, 80)
        t.wait_for(r"\$ |# ")
        status = t.hang_up()
        check("a closed window ends the machine", status != 0, status)
    print(f"1..{count}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
