#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""watch.py DIR COMMAND... - run a User-Mode Linux (runuml -o DIR) and sample its kernel.

User-Mode Linux's kernel is one process of this machine, its programs are others: the processor time
of the first is what the kernel took. perf samples it with call chains; at each line "@MARK ..." that
the guest prints, DIR/marks gets the time, and the process's nanoseconds so far. DIR/samples is
what perf saw: "TIME ADDRESS ADDRESS..." innermost first.
"""

import glob
import os
import signal
import subprocess
import sys
import time

import perfdata

FREQUENCY = 4999


def kernel_of(directory):
    """The process, as soon as it has written down who it is."""
    for _ in range(200):
        for name in glob.glob(directory + "/.uml/*/pid"):
            with open(name, encoding="ascii") as file:
                text = file.read().strip()
            if text and os.path.exists("/proc/" + text):
                return int(text)
        time.sleep(0.05)
    sys.exit("watch.py: no User-Mode Linux came up in " + directory)


def stay():
    """On one CPU, the kernel and its programs: each system call would find another's caches cold. MRC_CPU: counted
    from the last one that there is (1)."""
    cpus = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cpus[-int(os.environ.get("MRC_CPU", "1")) % len(cpus)]})


def nanoseconds(pid):
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0])


def sampler(pid, path):
    return subprocess.Popen(
        ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(FREQUENCY), "--call-graph", "fp", "-i",
         "-k", "CLOCK_MONOTONIC", "-p", str(pid), "-o", path],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def follow(machine, pid, marks, log):
    for line in machine.stdout:
        log.write(line)
        words = line.split()
        if words and words[0] == "@MARK":
            marks.write(f"{time.monotonic():.6f} {nanoseconds(pid)} {' '.join(words[1:])}\n")


def samples(data, path):
    """perf's own file is large and says little more."""
    with open(path, "w", encoding="ascii") as out:
        for at, chain in perfdata.samples(data):
            out.write(f"{at:.6f} {' '.join(f'{address:x}' for address in chain)}\n")
    os.unlink(data)


def main():
    directory = os.path.abspath(sys.argv[1])
    os.makedirs(directory, exist_ok=True)
    for old in glob.glob(directory + "/.uml/*/pid"):
        os.unlink(old)
    machine = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               close_fds=False,  # pair.py's cables
                               preexec_fn=stay)
    signal.signal(signal.SIGTERM, lambda *_: machine.terminate())
    pid = kernel_of(directory)
    data = directory + "/perf.data"
    perf = sampler(pid, data)
    with open(directory + "/marks", "w", encoding="ascii") as marks, \
            open(directory + "/log", "w", encoding="utf-8") as log:
        follow(machine, pid, marks, log)
    code = machine.wait()
    try:
        perf.wait(20)
    except subprocess.TimeoutExpired:
        perf.send_signal(signal.SIGINT)
        perf.wait()
    samples(data, directory + "/samples")
    sys.exit(code)


main()
