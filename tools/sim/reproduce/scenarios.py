# SPDX-License-Identifier: GPL-2.0
"""scenarios.py - scenario files as Python tables: merged, drawn, written.

A scenario is what "mrcsim run" reads (cluster/scenario.h), as tomllib gives it. More keys stand for lists
that nobody wants to write by hand:

  dead_cables   [{percent, count, seed, at_us, until_us, planes}]: so many of the cables between T0s and T1s fail, in
                each of the first planes. Which, the seed decides; of more the same ones fail, and others.
  cuts          [{count, plane, at_us, every_us}]: cables of the first T0, one after the other
  flow_range    [{src, dst, hosts, bytes, count}]: host src + i sends to dst + i, count messages
  fan_in        the same, all to dst
"""
import copy
import hashlib
import math


class Mistake(Exception):
    """What the person who wrote a file is to be told."""


def merge(base, more):
    """base with more laid over it: tables are merged, lists appended."""
    out = copy.deepcopy(base)
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(out.get(key, {}), dict):
            out[key] = merge(out.get(key, {}), value)
        elif isinstance(value, list) and isinstance(out.get(key), list):
            out[key] = out[key] + copy.deepcopy(value)
        else:
            out[key] = copy.deepcopy(value)
    return out


def anchor(scenario, folder):
    """With workload.file as a path of any folder: jobs have one of their own."""
    file = scenario.get("workload", {}).get("file")
    return merge(scenario, {"workload": {"file": str((folder / file).absolute())}}) if file else scenario


def setting(path, value):
    """{"host": {"evs": 32}} of "host.evs" and 32."""
    for part in reversed(path.split(".")):
        value = {part: value}
    return value


def _number(table, key, where, default=None, most=1 << 40):
    value = table.get(key, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= most:
        raise Mistake(f"{where}.{key}: a number from 0 to {most} is wanted")
    return value


def _only(table, known, where):
    if not isinstance(table, dict):
        raise Mistake(f"{where}: a list of tables is wanted")
    for key in table:
        if key not in known:
            raise Mistake(f"{where}.{key}: no such key")


def _cables(t0s, t1s, seed, plane):
    """All of a plane, in an order that the seed draws."""
    return sorted(((t0, t1) for t0 in range(t0s) for t1 in range(t1s)), key=lambda cable: hashlib.sha256(
        f"{seed} {plane} {cable[0]} {cable[1]}".encode()).digest())


def _dead_cables(scenario):
    fabric = scenario.get("fabric", {})
    t0s = math.ceil(fabric.get("hosts", 128) / fabric.get("hosts_per_t0", 16))
    t1s = fabric.get("t1s", 16)
    faults = []
    for x in scenario.get("dead_cables", []):
        _only(x, ("percent", "count", "seed", "at_us", "until_us", "planes"), "dead_cables")
        count = _number(x, "count", "dead_cables", 0, t0s * t1s)
        count += round(t0s * t1s * _number(x, "percent", "dead_cables", 0, 100) / 100)
        times = {key: x[key] for key in ("at_us", "until_us") if key in x}
        for plane in range(_number(x, "planes", "dead_cables", 1, 32)):
            order = _cables(t0s, t1s, _number(x, "seed", "dead_cables", 1), plane)
            faults += [{"kind": "cable", "plane": plane, "t0": t0, "t1": t1, **times}
                       for t0, t1 in sorted(order[:count])]
    return faults


def _cuts(scenario):
    faults = []
    for x in scenario.get("cuts", []):
        _only(x, ("count", "plane", "at_us", "every_us"), "cuts")
        at, every = _number(x, "at_us", "cuts"), _number(x, "every_us", "cuts")
        faults += [{"kind": "cable", "plane": _number(x, "plane", "cuts", 0), "t0": 0, "t1": i, "at_us": at + i * every}
                   for i in range(_number(x, "count", "cuts", most=1 << 16))]
    return faults


def _flows(scenario, key):
    flows = []
    for x in scenario.get(key, []):
        _only(x, ("src", "dst", "hosts", "bytes", "count"), key)
        src, dst = _number(x, "src", key), _number(x, "dst", key)
        more = {name: x[name] for name in ("bytes", "count") if name in x}
        flows += [{"src": src + i, "dst": dst + (i if key == "flow_range" else 0), **more}
                  for i in range(_number(x, "hosts", key, most=1 << 20))]
    return flows


def expand(scenario):
    """A scenario that mrcsim knows: without the keys of this file's head."""
    out = {key: value for key, value in scenario.items() if key not in ("dead_cables", "cuts", "flow_range", "fan_in")}
    for key, made in (("fault", _dead_cables(scenario)), ("fault", _cuts(scenario)), ("flow", _flows(scenario, "flow_range")),
                      ("flow", _flows(scenario, "fan_in"))):
        if made:
            out[key] = out.get(key, []) + made
    return out


def _value(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    return repr(value)


def _table(head, table):
    return "\n".join([head] + [f"{key} = {_value(value)}" for key, value in table.items()]) + "\n"


def to_toml(scenario):
    """Text that "mrcsim run" reads; of equal scenarios the same."""
    plain = {k: v for k, v in scenario.items() if not isinstance(v, (dict, list))}
    parts = [_table("", plain).lstrip("\n")] if plain else []
    for key, value in scenario.items():
        if isinstance(value, dict):
            parts.append(_table(f"[{key}]", value))
        elif isinstance(value, list):
            for entry in value:
                if not isinstance(entry, dict):
                    raise Mistake(f"{key}: a list of tables is wanted")
                parts.append(_table(f"[[{key}]]", entry))
    return "\n".join(parts)
