// SPDX-License-Identifier: GPL-2.0
// scenario.cc - reading and checking scenario files. See scenario.h.
#include "scenario.h"

#include <toml++/toml.h>

#include <stdexcept>
#include <variant>

namespace sim {

namespace {

using target = std::variant<u64 *, bool *, std::string *>;

struct option {
    const char *key;
    target to;
};

std::vector<option> options_of(scenario &s)
{
    return {
        {"fabric.hosts", &s.fabric.hosts},
        {"fabric.hosts_per_t0", &s.fabric.hosts_per_t0},
        {"fabric.t1s", &s.fabric.t1s},
        {"fabric.planes", &s.fabric.planes},
        {"fabric.rate_gbps", &s.fabric.rate_gbps},
        {"fabric.delay_ns", &s.fabric.delay_ns},
        {"fabric.mtu", &s.fabric.mtu},
        {"fabric.header", &s.fabric.header},
        {"fabric.control", &s.fabric.control},
        {"fabric.queue", &s.fabric.queue},
        {"fabric.last_queue", &s.fabric.last_queue},
        {"fabric.ecn", &s.fabric.ecn},
        {"fabric.ecn_lo", &s.fabric.ecn_lo},
        {"fabric.ecn_hi", &s.fabric.ecn_hi},
        {"fabric.ecn_last_hop", &s.fabric.ecn_last_hop},
        {"fabric.ecn_random", &s.fabric.ecn_random},
        {"fabric.trim", &s.fabric.trim},
        {"host.cc", &s.host.cc},
        {"host.window", &s.host.window},
        {"host.mpr", &s.host.mpr},
        {"host.evs", &s.host.evs},
        {"host.ev_per_path", &s.host.ev_per_path},
        {"host.rto_us", &s.host.rto_us},
        {"host.probe_us", &s.host.probe_us},
        {"host.timestamps", &s.host.timestamps},
        {"host.incast", &s.host.incast},
        {"host.sleek", &s.host.sleek},
        {"workload.kind", &s.workload.kind},
        {"workload.bytes", &s.workload.bytes},
        {"workload.seed", &s.workload.seed},
        {"workload.fan_in", &s.workload.fan_in},
        {"workload.victim", &s.workload.victim},
        {"workload.group", &s.workload.group},
        {"run.limit_us", &s.run.limit_us},
        {"run.bucket_us", &s.run.bucket_us},
        {"run.seed", &s.run.seed},
    };
}

template <class... Ts> std::vector<option> keys(Ts... t)
{
    return {t...};
}

std::vector<option> options_of(slow_spec &x)
{
    return keys(option{"t1", &x.t1}, option{"count", &x.count}, option{"percent", &x.percent},
                option{"plane", &x.plane});
}

std::vector<option> options_of(fault_spec &x)
{
    return keys(option{"kind", &x.kind}, option{"plane", &x.plane}, option{"t0", &x.t0},
                option{"t1", &x.t1}, option{"host", &x.host}, option{"count", &x.count},
                option{"at_us", &x.at_us}, option{"until_us", &x.until_us},
                option{"notify", &x.notify});
}

std::vector<option> options_of(flow_spec &x)
{
    return keys(option{"src", &x.src}, option{"dst", &x.dst}, option{"bytes", &x.bytes},
                option{"start_us", &x.start_us});
}

[[noreturn]] void bad(const std::string &what)
{
    throw std::runtime_error(what);
}

void assign(const option &o, const toml::node &v)
{
    if (auto *to = std::get_if<u64 *>(&o.to); to && v.is_integer())
        **to = static_cast<u64>(v.as_integer()->get());
    else if (auto *tb = std::get_if<bool *>(&o.to); tb && v.is_boolean())
        **tb = v.as_boolean()->get();
    else if (auto *ts = std::get_if<std::string *>(&o.to); ts && v.is_string())
        **ts = v.as_string()->get();
    else
        bad(std::string("wrong type of value for ") + o.key);
}

void assign(const std::vector<option> &opts, const std::string &key, const toml::node &v)
{
    for (const option &o : opts)
        if (key == o.key)
            return assign(o, v);
    bad("no such option: " + key);
}

template <class T> void read_list(const toml::node &v, std::vector<T> &to)
{
    if (!v.is_array())
        bad("a list of tables is wanted");
    for (const toml::node &entry : *v.as_array()) {
        T x;

        if (!entry.is_table())
            bad("a list of tables is wanted");
        for (auto &&[k, val] : *entry.as_table())
            assign(options_of(x), std::string(k.str()), val);
        to.push_back(x);
    }
}

void read_expect(const toml::node &v, scenario &s)
{
    if (!v.is_table())
        bad("[expect] is not a table");
    for (auto &&[k, val] : *v.as_table()) {
        auto n = val.value<double>();

        if (!n)
            bad("expect." + std::string(k.str()) + " is not a number");
        s.expect.push_back({std::string(k.str()), *n});
    }
}

void read_top(const std::string &key, const toml::node &v, scenario &s)
{
    if (key == "name" || key == "about" || key == "status") {
        std::string &to = key == "name" ? s.name : key == "about" ? s.about : s.status;

        to = v.value_or(std::string());
    } else if (key == "slow") {
        read_list(v, s.slow);
    } else if (key == "fault") {
        read_list(v, s.fault);
    } else if (key == "flow") {
        read_list(v, s.flow);
    } else if (key == "expect") {
        read_expect(v, s);
    } else if (v.is_table()) {
        for (auto &&[k, val] : *v.as_table())
            assign(options_of(s), key + "." + std::string(k.str()), val);
    } else {
        bad("no such key: " + key);
    }
}

} // namespace

u64 scenario::base_rtt_ps() const
{
    return 8 * fabric.delay_ns * ps_per_ns + 4 * ser_ps(fabric.mtu + fabric.header) +
           4 * ser_ps(fabric.control);
}

u64 scenario::bdp_bytes() const
{
    return base_rtt_ps() * fabric.rate_gbps / 8000;
}

scenario load_scenario(const std::string &path)
{
    scenario s;

    try {
        toml::table t = toml::parse_file(path);

        for (auto &&[k, v] : t)
            read_top(std::string(k.str()), v, s);
    } catch (const toml::parse_error &e) {
        bad(path + ":" + std::to_string(e.source().begin.line) + ": " +
            std::string(e.description()));
    } catch (const std::runtime_error &e) {
        bad(path + ": " + e.what());
    }
    if (s.name.empty())
        s.name = path;
    return s;
}

static void set_expectation(scenario &s, const std::string &metric, double value)
{
    std::erase_if(s.expect, [&](const expectation &x) { return x.metric == metric; });
    s.expect.push_back({metric, value});
}

void set_option(scenario &s, const std::string &assignment)
{
    size_t eq = assignment.find('=');

    if (eq == std::string::npos)
        bad("--set wants key=value: " + assignment);
    std::string key = assignment.substr(0, eq), value = assignment.substr(eq + 1);
    if (key.starts_with("expect."))
        return set_expectation(s, key.substr(7), std::stod(value));
    for (const option &o : options_of(s)) {
        if (key != o.key)
            continue;
        if (std::holds_alternative<std::string *>(o.to))
            return assign(o, toml::value<std::string>(value));
        return assign(o, *toml::parse("v = " + value).get("v"));
    }
    bad("no such option: " + key);
}

static void check_fault(const scenario &s, const fault_spec &f)
{
    if (f.kind != "cable" && f.kind != "spine" && f.kind != "plane" && f.kind != "port")
        bad("fault.kind is cable, spine, plane or port, not " + f.kind);
    if (f.plane >= s.fabric.planes || f.t0 >= s.t0s() || f.t1 + f.count > s.fabric.t1s ||
        f.host >= s.fabric.hosts)
        bad("a fault is outside the fabric");
    if (f.notify && f.kind != "plane" && f.kind != "port")
        bad("only loss of a plane or of a host's port can be noticed by a host");
    if (f.until_us && f.until_us <= f.at_us)
        bad("a fault ends before it begins");
}

void check_scenario(const scenario &s)
{
    const fabric_cfg &f = s.fabric;

    if (!f.hosts || !f.hosts_per_t0 || !f.t1s || !f.planes || f.planes > MRC_PLANES_MAX ||
        f.t1s > MRC_EVS_MAX || f.hosts_per_t0 > 0x10000 || f.hosts > 1u << 22)
        bad("fabric: sizes out of range");
    if (!f.rate_gbps || !f.delay_ns || f.mtu < 256 || f.mtu > 4096 || f.header > 1000 ||
        !f.control || !f.queue || !f.last_queue || f.ecn_hi < f.ecn_lo || f.ecn_random > 100)
        bad("fabric: rates, delays or queues out of range");
    if (f.ecn != "off" && f.ecn != "ramp" && f.ecn != "threshold")
        bad("fabric.ecn is off, ramp or threshold");
    if (s.host.cc != "nscc" && s.host.cc != "fixed")
        bad("host.cc is nscc or fixed");
    if (s.host.evs < f.planes || !s.host.ev_per_path || !s.host.window || !s.run.bucket_us ||
        !s.host.mpr || s.host.mpr > MRC_MPR_MAX)
        bad("host: at least one EV per plane, per path, and a window");
    if (!s.workload.bytes || s.workload.bytes > 1u << 31)
        bad("workload.bytes: 1 byte to 2 GiB");
    for (const slow_spec &x : s.slow)
        if (x.t1 + x.count > f.t1s || !x.percent || x.percent > 100 ||
            (x.plane != none32 && x.plane >= f.planes))
            bad("slow: outside the fabric");
    for (const fault_spec &x : s.fault)
        check_fault(s, x);
    for (const flow_spec &x : s.flow)
        if (x.src >= f.hosts || x.dst >= f.hosts || x.src == x.dst || x.bytes > 1u << 31)
            bad("flow: outside the fabric, to itself, or too long");
}

} // namespace sim
