# SPDX-License-Identifier: GPL-2.0
"""jobs.py - simulations as jobs: a folder with a scenario file for each, run by anybody, merged by file.

A job NAME is a file NAME.toml and a line of shell that makes NAME.json of it, unless that is there. So GNU
parallel, xargs and Slurm can all run them, in any order, again after an interruption, on several machines that
share the folder. What a job leaves depends on its scenario and on the simulator only; a scenario file names the
simulator by its digest, and a result of another one is thrown away.
"""
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess

from scenarios import Mistake, expand, to_toml

# Of the machine and its hour, not of the simulation.
TIMING = ("wall_s", "setup_cpu_s", "run_cpu_s", "hops_per_s", "data_pkts_per_s", "rss_mib")


def simulator():
    """mrcsim-cluster, as "mrcsim" names it or as make leaves it."""
    given = os.environ.get("MRCSIM_CLUSTER")
    path = pathlib.Path(given) if given else pathlib.Path(__file__).parents[3] / "build/sim/gcc/mrcsim-cluster"
    if not path.exists():
        raise Mistake(f"{path}: not there; make -C tools/sim")
    return path


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


class Folder:
    """Jobs by name, and where they are."""

    def __init__(self, path, scenarios):
        self.path, self.names, self.sim = pathlib.Path(path).absolute(), list(scenarios), simulator()
        self.path.mkdir(parents=True, exist_ok=True)
        by = digest(self.sim)
        for name, scenario in scenarios.items():
            text = f"# for mrcsim-cluster {by}\n" + to_toml({"name": name, **expand(scenario)})
            file, result = self.path / f"{name}.toml", self.path / f"{name}.json"
            if file.exists() and file.read_text() == text:
                continue
            result.unlink(missing_ok=True)
            file.write_text(text)
        (self.path / "jobs").write_text("".join(line + "\n" for line in self.lines()))

    def lines(self):
        """A line of shell for each job. A result appears whole or not at all."""
        here, sim = shlex.quote(str(self.path)), shlex.quote(str(self.sim))
        for name in self.names:
            q = shlex.quote(name)
            yield (f"cd {here} && {{ [ -s {q}.json ] || {{ {sim} --json --brief {q}.toml >{q}.$$.part && "
                   f"mv {q}.$$.part {q}.json; }}; }}")

    def run(self, workers):
        """By GNU parallel, or by xargs where that is not installed."""
        if shutil.which("parallel"):
            command = ["parallel", "--will-cite", "--halt", "now,fail=1", "-j", str(workers)]
            text = (self.path / "jobs").read_text()
        else:
            command = ["xargs", "-0", "-P", str(workers), "-n", "1", "sh", "-c"]
            text = "".join(line + "\0" for line in self.lines())
        if subprocess.run(command, input=text.encode(), check=False).returncode:
            raise Mistake(f"{self.path}: a job failed; what it said is above")

    def slurm(self):
        """A batch script: one task of an array for each job."""
        jobs = shlex.quote(str(self.path / "jobs"))
        return ("#!/bin/sh\n"
                f"#SBATCH --array=1-{len(self.names)}\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=1\n"
                f"eval \"$(sed -n \"${{SLURM_ARRAY_TASK_ID}}p\" {jobs})\"\n")

    def result(self, name):
        file = self.path / f"{name}.json"
        if not file.exists():
            raise Mistake(f"{file}: this job has not run")
        return json.loads(file.read_text())
