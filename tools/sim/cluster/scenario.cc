// SPDX-License-Identifier: GPL-2.0
// scenario.cc - reads scenario files (scenario.h); check.cc validates them.
#include "options.h"

#include <toml++/toml.h>

#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace sim {

// What files say may be anything, and terminals obey control characters.
void refuse_scenario(const std::string &what)
{
    constexpr size_t most = 300;
    std::string text = what.substr(0, most);

    for (char &c : text)
        if (std::iscntrl(static_cast<unsigned char>(c)))
            c = '?';
    throw std::runtime_error(text + (what.size() > most ? "..." : ""));
}

namespace {

[[noreturn]] void bad(const std::string &what)
{
    refuse_scenario(what);
}

[[noreturn]] void bad_at(const toml::node &v, const std::string &what)
{
    u64 line = v.source().begin.line;

    bad((line ? std::to_string(line) + ": " : " ") + what);
}

template <class T> void assign_number(const option &o, T *to, const toml::node &v)
{
    s64 n = v.as_integer()->get();

    if (n < o.lo || n > o.hi)
        bad_at(v, o.key + ": " + std::to_string(n) + " is not within " + std::to_string(o.lo) +
                      " to " + std::to_string(o.hi));
    *to = static_cast<T>(n);
}

void assign(const option &o, const toml::node &v)
{
    if (auto *to = std::get_if<u64 *>(&o.to); to && v.is_integer())
        assign_number(o, *to, v);
    else if (auto *tn = std::get_if<s64 *>(&o.to); tn && v.is_integer())
        assign_number(o, *tn, v);
    else if (auto *tb = std::get_if<bool *>(&o.to); tb && v.is_boolean())
        **tb = v.as_boolean()->get();
    else if (auto *ts = std::get_if<std::string *>(&o.to); ts && v.is_string())
        **ts = v.as_string()->get();
    else
        bad_at(v, o.key + ": wrong type of value");
}

void assign(const std::vector<option> &opts, const std::string &key, const toml::node &v)
{
    for (const option &o : opts)
        if (key == o.key)
            return assign(o, v);
    bad_at(v, key + ": no such option");
}

template <class T>
void read_list(const std::string &name, const toml::node &v, std::vector<T> &to)
{
    if (!v.is_array())
        bad_at(v, name + ": a list of tables is wanted");
    for (const toml::node &entry : *v.as_array()) {
        T x;

        if (!entry.is_table())
            bad_at(entry, name + ": a list of tables is wanted");
        x.line = entry.source().begin.line;
        std::vector<option> opts = options_of(x);
        for (option &o : opts)
            o.key = name + "." + o.key;
        for (auto &&[k, val] : *entry.as_table())
            assign(opts, name + "." + std::string(k.str()), val);
        to.push_back(x);
    }
}

void read_expect(const std::string &name, const toml::node &v, std::vector<expectation> &to)
{
    if (!v.is_table())
        bad_at(v, name + " is not a table");
    for (auto &&[k, val] : *v.as_table()) {
        auto n = val.value<double>();
        std::string key = name + "." + std::string(k.str());

        if (!n || !val.is_number())
            bad_at(val, key + ": not a number");
        if (!std::isfinite(*n) || *n < 0)
            bad_at(val, key + ": no metric has such a value");
        to.push_back({std::string(k.str()), *n});
    }
}

void read_text(const std::string &key, const toml::node &v, std::string &to)
{
    if (!v.is_string())
        bad_at(v, key + ": wrong type of value");
    to = v.as_string()->get();
}

void read_top(const std::string &key, const toml::node &v, scenario &s)
{
    if (key == "name" || key == "about" || key == "status")
        read_text(key, v, key == "name" ? s.name : key == "about" ? s.about : s.status);
    else if (key == "slow")
        read_list(key, v, s.slow);
    else if (key == "plane")
        read_list(key, v, s.plane);
    else if (key == "path")
        read_list(key, v, s.path_rule);
    else if (key == "pause")
        read_list(key, v, s.pause);
    else if (key == "clock")
        read_list(key, v, s.clock);
    else if (key == "fault")
        read_list(key, v, s.fault);
    else if (key == "flow")
        read_list(key, v, s.flow);
    else if (key == "tcp")
        read_list(key, v, s.tcp);
    else if (key == "expect" || key == "bound")
        read_expect(key, v, key == "expect" ? s.expect : s.bound);
    else if (v.is_table())
        for (auto &&[k, val] : *v.as_table())
            assign(options_of(s), key + "." + std::string(k.str()), val);
    else
        bad_at(v, key + ": no such key");
}

void set_expectation(std::vector<expectation> &list, const std::string &metric,
                     const std::string &value)
{
    size_t used = 0;
    double v = 0;

    try {
        v = std::stod(value, &used);
    } catch (const std::exception &) {
        used = 0;
    }
    if (!used || used != value.size() || !std::isfinite(v) || v < 0)
        bad("--set expect." + metric + ": no metric has such a value: " + value);
    std::erase_if(list, [&](const expectation &x) { return x.metric == metric; });
    list.push_back({metric, v});
}

} // namespace

u64 scenario::base_rtt_ps() const
{
    return 8 * fabric.delay_ns * ps_per_ns + 4 * ser_ps(fabric.mtu + fabric.header) +
           4 * ser_ps(fabric.control);
}

u8 scenario::burst() const
{
    return mrc_burst_of(static_cast<u8>(host.burst), static_cast<u32>(fabric.mtu));
}

u64 scenario::bdp_bytes(u64 rate) const
{
    return static_cast<u64>(static_cast<unsigned __int128>(base_rtt_ps()) * rate / 8000000);
}

u64 scenario::plane_mbps(u64 plane_no) const
{
    for (const plane_spec &x : plane)
        if (x.plane == plane_no)
            return x.rate_mbps ? x.rate_mbps : std::max<u64>(mbps() * x.percent / 100, 1);
    return mbps();
}

scenario load_scenario(const std::string &path)
{
    std::ifstream in(path);
    std::ostringstream text;

    if (!in)
        bad(path + ": " + std::strerror(errno));
    in.peek();
    if (in.bad())
        bad(path + ": cannot be read");
    text << in.rdbuf();
    return parse_scenario(text.str(), path);
}

scenario parse_scenario(const std::string &text, const std::string &path)
{
    scenario s;

    s.path = path;
    try {
        toml::table t = toml::parse(text, path);

        for (auto &&[k, v] : t)
            read_top(std::string(k.str()), v, s);
    } catch (const toml::parse_error &e) {
        bad(path + ":" + std::to_string(e.source().begin.line) + ": " +
            std::string(e.description()));
    } catch (const std::runtime_error &e) {
        bad(path + ":" + e.what());
    }
    if (s.name.empty())
        s.name = path;
    return s;
}

void set_option(scenario &s, const std::string &assignment)
{
    size_t eq = assignment.find('=');

    if (eq == std::string::npos)
        bad("--set wants key=value: " + assignment);
    std::string key = assignment.substr(0, eq), value = assignment.substr(eq + 1);
    if (key.starts_with("expect."))
        return set_expectation(s.expect, key.substr(7), value);
    for (const option &o : options_of(s)) {
        if (key != o.key)
            continue;
        if (std::holds_alternative<std::string *>(o.to))
            return assign(o, toml::value<std::string>(value));
        try {
            toml::table t = toml::parse("v = " + value);

            if (t.size() != 1)
                bad(" one value is wanted");
            return assign(o, *t.get("v"));
        } catch (const toml::parse_error &) {
            bad("--set " + key + ": not a value: " + value);
        } catch (const std::runtime_error &e) {
            std::string what = e.what(); // "1: ...": there is but one line

            bad("--set " + what.substr(std::min(what.find(' ') + 1, what.size())));
        }
    }
    bad("no such option: " + key);
}

} // namespace sim
