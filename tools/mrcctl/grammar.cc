// SPDX-License-Identifier: GPL-2.0
// grammar.cc - see grammar.h.
#include "grammar.h"

#include <algorithm>
#include <fmt/format.h>

namespace mrcctl {

namespace {

key dev_key(bool required)
{
    return {"dev", {"DEV"}, "the MRC device", required};
}

key file_key()
{
    return {"file", {"FILE"}, "the fabric file", true};
}

// Looks on for a while; then shows.
object watch(const char *name, action what, const char *help, const char *does, const char *example)
{
    return {name,
            help,
            {
                {"",
                 what,
                 does,
                 {
                     {"seconds", {"N"}, "for so long; without: until interrupted"},
                     {"qpn", {"N"}, "of this QP of this host only"},
                 },
                 example},
            }};
}

// Under two names: "monitor" came first, "event" is what it prints.
object events(const char *name, const char *help, const char *example)
{
    return {name,
            help,
            {
                {"",
                 action::monitor,
                 "print one event per line (-j: one JSON object per line)",
                 {
                     dev_key(false),
                     {"count", {"N"}, "stop after so many"},
                     {"timeout", {"SECONDS"}, "stop after so long"},
                 },
                 example},
            }};
}

std::vector<object> make_table()
{
    return {
        {"dev",
         "MRC devices and their settings",
         {
             {"show", action::dev_show, "list devices", {dev_key(false)}, "mrcctl -j dev show"},
             {"set",
              action::dev_set,
              "change settings of a device",
              {
                  dev_key(true),
                  {"udp-port", {"PORT"}, "UDP port to send to"},
                  {"icrc", {"on|off"}, "send and check the ICRC"},
                  {"cwnd", {"BYTES"}, "window of new QPs without a CC profile (4k ... 1g)"},
                  {"mpr", {"UNITS"}, "PSN window of new QPs, 128 PSNs each (1 ... 32)"},
                  {"hop-limit", {"N"}, "hop limit of outer headers (1 ... 255)"},
                  {"dscp-data", {"DSCP"}, "of data packets (0 ... 63)"},
                  {"dscp-rtx", {"DSCP"}, "of retransmissions"},
                  {"dscp-control", {"DSCP"}, "of control packets"},
                  {"dscp-no-trim", {"DSCP"}, "of data that must not be trimmed, and probes"},
                  {"dscp-trimmed", {"DSCP"}, "by which switches mark trimmed packets"},
                  {"dscp-trimmed-lasthop", {"DSCP"}, "likewise, at the last hop"},
                  {"profile", {"ID"}, "default EV profile, 0 for automatic EVs"},
                  {"cc-profile", {"ID"}, "CC profile of new QPs, 0 for a fixed window each"},
                  {"active-evs", {"N"}, "EVs that a new QP sprays over (1 ... 4096)"},
                  {"trim-nack", {"on|off"}, "NACK trimmed packets, send data that may be trimmed"},
                  {"timestamps", {"on|off"}, "in data packets, for congestion control"},
                  {"dyn-mpr", {"on|off"}, "dynamic MPR; both ends must have it"},
                  {"strict", {"on|off"}, "new QPs place data in order"},
                  {"sleek", {"on|off"}, "new QPs infer loss by counting, too"},
                  {"oor-nack", {"on|off"}, "new QPs NACK PSNs beyond the window"},
                  {"exp-cnt", {"N"}, "retries of new QPs with doubling timeouts (0 ... 25)"},
                  {"burst", {"N"}, "packets of new QPs in a row by one EV (1 ... 16; 0: 4 KiB of them)"},
                  {"ev-port-low", {"on|off"}, "the low half of an EV is the port; both ends"},
                  {"mrc-pad", {"on|off"}, "new mrc.h QPs pad to four bytes"},
                  {"incast", {"on|off"}, "ask senders to slow down when many send at once"},
                  {"damp", {"MS"}, "half-life of flap damping, 0 for none"},
              },
              "mrcctl dev set mrc0 icrc off cwnd 1m"},
         }},
        {"plane",
         "planes: the ports of a device and the fabric behind each",
         {
             {"show", action::plane_show, "list planes", {dev_key(false)}, "mrcctl plane show"},
             {"set",
              action::plane_set,
              "change a plane",
              {
                  dev_key(true),
                  {"plane", {"N"}, "its number, from 1", true},
                  {"admin", {"on|off"}, "use the plane or not"},
                  {"sid", {"ADDR"}, "our SRv6 locator on it; :: for none"},
                  {"netdev", {"PORT"}, "alone: whose the number is when it comes"},
              },
              "mrcctl plane set dev mrc0 plane 1 sid fcbb:bb00:1201::"},
         }},
        {"profile",
         "EV profiles: the paths towards a destination",
         {
             {"show",
              action::profile_show,
              "list profiles (-d: with their EVs)",
              {dev_key(false), {"id", {"ID"}, "only this one"}},
              "mrcctl -d profile show"},
             {"set",
              action::profile_set,
              "create or replace a profile",
              {
                  dev_key(true),
                  {"id", {"ID"}, "number of the profile, not 0", true},
                  {"dst", {"ADDR[/LEN]"}, "GID of the destination, or a prefix; without it: any"},
                  {"fmt", {"srv6|udp|stev"}, "what the EVs are"},
                  {"mode",
                   {"exp|gen|auto"},
                   "EVs as given (default), from fields, or made by the kernel"},
                  {"min-active", {"N"}, "floor of usable EVs; 0: a quarter"},
                  {"count", {"N"}, "mode auto: so many EVs; gen: so many of those described"},
                  {"widths", {"W,W,..."}, "mode gen: bits of the format's fields"},
                  {"gen",
                   {"PORT"},
                   "mode gen: EVs on this port (0: all in turn) from the fields that follow",
                   false,
                   true},
                  {"field",
                   {"WIDTH,INIT[,MASK,MIN,MAX]"},
                   "numbers MIN ... MAX go into the bits of MASK",
                   false,
                   true},
                  {"copy",
                   {"dst|src:BIT:WIDTH:AT"},
                   "bits of the peer's address, or ours, into each EV from bit AT on",
                   false,
                   true},
                  {"ev",
                   {"PORT", "VALUE"},
                   "an EV: plane, and srv6: ADDR[,SEGMENT]; udp: number; stev: 0x...",
                   false,
                   true},
              },
              "mrcctl profile set dev mrc0 id 1 dst fd00::2 fmt srv6 \\\n"
              "           ev 1 fcbb:bb00:1201:1301:: ev 2 fcbb:bb01:1201:1301::\n"
              "  mrcctl profile set dev mrc0 id 2 fmt stev mode gen \\\n"
              "           gen 0 field 16,0xc000,0x3fff,0,127 field 16,0\n"
              "  mrcctl profile set dev mrc0 id 1 dst fd00::/64 fmt srv6 mode gen \\\n"
              "           gen 1 field 32,0xfcbbbb00 field 16,0x1001 field 16,0 copy dst:112:16:48"},
             {"del",
              action::profile_del,
              "delete a profile",
              {
                  dev_key(true),
                  {"id", {"ID"}, "number of the profile", true},
                  {"dst", {"ADDR[/LEN]"}, "its destination or prefix; without it: that for any"},
              },
              "mrcctl profile del dev mrc0 id 1 dst fd00::2"},
         }},
        {"peer",
         "remote GIDs and the state of the paths to them",
         {
             {"show",
              action::peer_show,
              "list peers",
              {dev_key(false), {"peer", {"GID"}, "only this one"}},
              "mrcctl peer show"},
         }},
        {"ev",
         "entropy values: single paths to a peer",
         {
             {"show",
              action::ev_show,
              "list EVs of path sets",
              {
                  dev_key(false),
                  {"peer", {"GID"}, "of this peer only"},
                  {"state", {"good|skip|assumed-bad|denied"}, "in this state only"},
                  {"named", {"ID"}, "of QPs that name this EV profile only; 0: of no such QPs"},
              },
              "mrcctl ev show peer fd00::2 state assumed-bad"},
             {"set",
              action::ev_set,
              "deny an EV, or allow it again",
              {
                  dev_key(true),
                  {"peer", {"GID"}, "of this peer", true},
                  {"named", {"ID"}, "of QPs that name this EV profile"},
                  {"index", {"N"}, "as shown by ev show; may be repeated", true, true},
                  {"state", {"good|denied"}, "new state", true},
              },
              "mrcctl ev set dev mrc0 peer fd00::2 index 3 state denied"},
         }},
        {"cc",
         "congestion control profiles",
         {
             {"show",
              action::cc_show,
              "list CC profiles",
              {dev_key(false), {"id", {"ID"}, "only this one"}},
              "mrcctl cc show"},
             {"set",
              action::cc_set,
              "create or replace a CC profile; what is not given follows from rate and RTT",
              {
                  dev_key(true),
                  {"id", {"ID"}, "number of the profile, not 0", true},
                  {"algorithm", {"nscc|fixed"}, "default: fixed"},
                  {"window", {"BYTES"}, "fixed: the window; nscc: the first one"},
                  {"target-delay", {"NS"}, "queueing delay aimed at"},
                  {"base-rtt", {"NS"}, "round trip without queues; 0: measured"},
                  {"max-cwnd", {"BYTES"}, "largest window"},
                  {"adjust-bytes", {"BYTES"}, "adjust after so many acknowledged"},
                  {"adjust-period", {"NS"}, "and after so long"},
                  {"eta", {"BYTES"}, "added per period, fractions allowed"},
                  {"fi", {"BYTES"}, "fair increase, fractions allowed"},
                  {"fi-scale", {"RATIO"}, "fast increase"},
                  {"gamma", {"RATIO"}, "multiplicative decrease (0 ... 1)"},
                  {"max-md-jump", {"RATIO"}, "of the window that is left at least (0 ... 1)"},
                  {"trimming", {"on|off"}, "the fabric trims; default: off"},
                  {"quick-adapt", {"on|off"}, "default: on"},
                  {"qa-gate", {"N"}, "quick adapt below max-cwnd / 2^N (0 ... 31)"},
                  {"qa-threshold", {"NS"}, "delay that calls for it"},
              },
              "mrcctl cc set dev mrc0 id 1 algorithm nscc target-delay 9000"},
             {"del",
              action::cc_del,
              "delete a CC profile",
              {dev_key(true), {"id", {"ID"}, "number of the profile", true}},
              "mrcctl cc del dev mrc0 id 1"},
         }},
        {"qp",
         "queue pairs",
         {
             {"show",
              action::qp_show,
              "list QPs (-d: with their counters)",
              {dev_key(false), {"qpn", {"N"}, "only this one"}},
              "mrcctl -d qp show qpn 17"},
         }},
        {"stats",
         "counters of a device",
         {
             {"show",
              action::stats_show,
              "show counters that are not zero (-d: all)",
              {dev_key(false)},
              "mrcctl stats show dev mrc0"},
         }},
        {"explain",
         "what a name that is shown means, and what to do about it",
         {
             {"",
              action::explain,
              "explain a counter, hint, state or event; without a name: list all (-d: with causes)",
              {
                  {"name", {"NAME"}, "as shown by mrcctl, rdma statistic or the log"},
                  {"as", {"text|page"}, "page: all of them, as a page of the documentation"},
              },
              "mrcctl explain rtx_rack"},
         }},
        {"fabric",
         "fabric files (mrcd.toml(5)), without a kernel",
         {
             {"show",
              action::fabric_show,
              "draw a plane",
              {
                  file_key(),
                  {"plane", {"N"}, "which, default: 1"},
                  {"as", {"text|svg"}, "default: text"},
              },
              "mrcctl fabric show fabric.toml plane 2 as svg >plane2.svg"},
             {"check",
              action::fabric_check,
              "read it, and follow every EV of some pairs of hosts through the routes of the switches",
              {
                  file_key(),
                  {"pairs", {"N"}, "so many, besides exceptions of the rule (default 200)"},
                  {"seed", {"N"}, "of the choice, default: 1"},
              },
              "mrcctl fabric check fabric.toml pairs 1000"},
             {"generate",
              action::fabric_generate,
              "write out what [topology] says: one node's share, or all of a small fabric as lists",
              {
                  file_key(),
                  {"node", {"NAME"}, "what this one shall have"},
              },
              "mrcctl fabric generate fabric.toml node h3-7"},
         }},
        {"probe",
         "which paths to a peer are alive",
         {
             {"",
              action::probe,
              "ask the peer by each EV of its path set, or by those given, and draw plane by path",
              {
                  dev_key(true),
                  {"peer", {"GID"}, "whom; a host that QPs or ordinary IP talk to", true},
                  {"ev", {"PORT", "VALUE"}, "by this one (repeat); it need not be in a profile", false, true},
                  {"fmt", {"srv6|stev|udp"}, "of these values, default: srv6 where they have colons, else udp"},
                  {"tc", {"N"}, "traffic class, default: of control packets"},
                  {"timeout", {"MS"}, "for answers, default: 1000"},
                  {"tries", {"N"}, "ask again so often where no answer comes, default: 3"},
              },
              "mrcctl probe dev mrc0 peer fd00:6d72:63::2"},
         }},
        events("event", "events as they happen: of devices, planes, peers, EVs", "mrcctl -j event count 1 timeout 10"),
        events("monitor", "the same as event", "mrcctl monitor dev mrc0"),
        watch("latency", action::latency, "round trips of planes, as histograms",
              "count round trips, by the plane that the packet left by", "mrcctl latency seconds 10"),
        watch("reorder", action::reorder, "how far ahead packets come, as histograms",
              "count how many PSNs after the first missing one data comes, by plane",
              "mrcctl reorder qpn 17"),
        watch("recovery", action::recovery, "losses and how long they last, as histograms",
              "count losses and resends by cause, and the time until what was lost had arrived",
              "mrcctl -j recovery seconds 60"),
        {"doctor",
         "what keeps MRC from working here",
         {
             {"", action::doctor, "check this host; what fails is printed with its cause and a command that repairs it", {},
              "mrcctl doctor"},
         }},
    };
}

enum class match { none, one, many };

// Exact name, else the only name that begins so.
template <class T>
match find(const std::vector<T> &list, std::string_view word, const T *&out,
           std::string &candidates)
{
    size_t n = 0;
    for (auto &x : list) {
        std::string_view name = x.name;
        if (name == word) {
            out = &x;
            return match::one;
        }
        if (!word.empty() && name.starts_with(word)) {
            out = &x;
            candidates += (n++ ? ", " : "") + std::string(name);
        }
    }
    return n == 0 ? match::none : n == 1 ? match::one : match::many;
}

template <class T>
const T *need(const std::vector<T> &list, std::string_view word, const char *what,
              std::string &error)
{
    const T *found = nullptr;
    std::string candidates;
    switch (find(list, word, found, candidates)) {
    case match::one:
        return found;
    case match::none:
        error = fmt::format("unknown {} \"{}\"", what, word);
        break;
    case match::many:
        error = fmt::format("{} \"{}\" could be {}", what, word, candidates);
        break;
    }
    return nullptr;
}

bool is_help(std::string_view word)
{
    return word == "help" || word == "-h" || word == "-help" || word == "--help";
}

std::string synopsis(const object &o, const verb &v)
{
    std::string s = fmt::format("mrcctl {}{}{}", o.name, *v.name ? " " : "", v.name);
    for (auto &k : v.keys) {
        std::string pair = k.name;
        for (auto *p : k.values)
            pair += fmt::format(" {}", p);
        s += k.required ? fmt::format(" {}", pair) : fmt::format(" [{}]", pair);
        if (k.repeat)
            s += k.required ? fmt::format(" [{}]...", pair) : "...";
    }
    return s;
}

// A word that is no key, where the first key is expected and another may follow, names the
// device: "plane show mrc0", or the file, or what is to be explained. A mistyped key has a value behind it.
bool is_positional(const verb &v, std::span<const std::string> rest, const arguments &args)
{
    const key *k = nullptr;
    std::string ignored;
    std::string_view first = v.keys.empty() ? "" : v.keys[0].name;
    if ((first != "dev" && first != "file" && first != "name") || !args.items().empty())
        return false;
    return find(v.keys, rest[0], k, ignored) == match::none &&
           (rest.size() == 1 || find(v.keys, rest[1], k, ignored) != match::none);
}

// Consumes KEY VALUE... from the front of @rest.
std::string take_pair(const verb &v, std::span<const std::string> &rest, arguments &args)
{
    if (is_positional(v, rest, args)) {
        args.add(&v.keys[0], {rest[0]});
        rest = rest.subspan(1);
        return {};
    }
    std::string error;
    const key *k = need(v.keys, rest[0], "key", error);
    if (!k)
        return error;
    if (args.has(k->name) && !k->repeat)
        return fmt::format("\"{}\" is given twice", k->name);
    if (rest.size() < 1 + k->values.size())
        return fmt::format("\"{}\" needs {}: {}", k->name,
                           k->values.size() == 1 ? "a value" : "two values",
                           fmt::join(k->values, " "));
    args.add(k, {rest.begin() + 1, rest.begin() + 1 + static_cast<std::ptrdiff_t>(k->values.size())});
    rest = rest.subspan(1 + k->values.size());
    return {};
}

} // namespace

const std::vector<object> &command_table()
{
    static const std::vector<object> table = make_table();
    return table;
}

void arguments::add(const key *k, std::vector<std::string> values)
{
    items_.push_back({k, std::move(values)});
}

bool arguments::has(std::string_view name) const
{
    return std::any_of(items_.begin(), items_.end(),
                       [&](const item &i) { return name == i.k->name; });
}

std::optional<std::string> arguments::get(std::string_view name) const
{
    for (auto &i : items_)
        if (name == i.k->name)
            return i.values[0];
    return std::nullopt;
}

parsed parse(std::span<const std::string> words)
{
    parsed r;
    command c;
    auto &table = command_table();

    if (!words.empty() && is_help(words[0])) {
        r.help = help_text(nullptr, nullptr);
        return r;
    }
    c.obj = words.empty() ? &table[0] : need(table, words[0], "object", r.error);
    if (!c.obj)
        return r;
    if (!words.empty())
        words = words.subspan(1);
    if (!words.empty() && is_help(words[0])) {
        r.help = help_text(c.obj, nullptr);
        return r;
    }

    c.v = &c.obj->verbs[0];
    if (*c.v->name && !words.empty()) {
        c.v = need(c.obj->verbs, words[0], "verb", r.error);
        if (!c.v)
            return r;
        words = words.subspan(1);
    }
    while (!words.empty()) {
        if (is_help(words[0])) {
            r.help = help_text(c.obj, c.v);
            return r;
        }
        r.error = take_pair(*c.v, words, c.args);
        if (!r.error.empty())
            return r;
    }
    for (auto &k : c.v->keys) {
        if (k.required && !c.args.has(k.name)) {
            r.error = fmt::format("\"{}\" is missing; usage: {}", k.name, synopsis(*c.obj, *c.v));
            return r;
        }
    }
    r.cmd = std::move(c);
    return r;
}

std::string help_text(const object *obj, const verb *v)
{
    std::string s;
    if (!obj) {
        s = "Usage: mrcctl [OPTIONS] OBJECT VERB [KEY VALUE]...\n"
            "       mrcctl [OBJECT [VERB]] help\n\n"
            "Objects (abbreviations will do; without any: dev show)\n";
        for (auto &o : command_table())
            s += fmt::format("  {:<9} {}\n", o.name, o.help);
        s += "\nOptions\n"
             "  -j, -json        one JSON array\n"
             "  -p, -pretty      JSON for people\n"
             "  -d, -details     more\n"
             "  -n, -netns NAME  in this network namespace\n"
             "  -V, -Version     print the version\n\n"
             "Exit status: 0 done, 1 wrong usage, 2 refused by the kernel.\n";
        return s;
    }
    if (!v) {
        s = fmt::format("{}: {}\n\n", obj->name, obj->help);
        for (auto &x : obj->verbs)
            s += fmt::format("  {}\n      {}\n", synopsis(*obj, x), x.help);
        return s;
    }
    s = fmt::format("Usage: {}\n\n{}\n\n", synopsis(*obj, *v), v->help);
    for (auto &k : v->keys)
        s += fmt::format("  {:<28} {}\n",
                         fmt::format("{} {}", k.name, fmt::join(k.values, " ")), k.help);
    return s + fmt::format("\nExample\n  {}\n", v->example);
}

namespace {

std::vector<std::string> value_candidates(const char *placeholder)
{
    std::string_view p = placeholder;
    if (p == "DEV")
        return {"<dev>"};
    if (p.find('|') == std::string_view::npos)
        return {};
    std::vector<std::string> out;
    for (size_t at = 0; at <= p.size();) {
        size_t end = std::min(p.find('|', at), p.size());
        out.emplace_back(p.substr(at, end - at));
        at = end + 1;
    }
    return out;
}

template <class T>
std::vector<std::string> names(const std::vector<T> &list)
{
    std::vector<std::string> out;
    for (auto &x : list)
        out.emplace_back(x.name);
    out.emplace_back("help");
    return out;
}

// All that could stand where the last word is.
std::vector<std::string> possible(std::span<const std::string> before)
{
    std::string ignored;
    auto &table = command_table();
    if (before.empty())
        return names(table);
    const object *o = need(table, before[0], "", ignored);
    if (!o)
        return {};
    before = before.subspan(1);
    const verb *v = &o->verbs[0];
    if (*v->name) {
        if (before.empty())
            return names(o->verbs);
        v = need(o->verbs, before[0], "", ignored);
        if (!v)
            return {};
        before = before.subspan(1);
    }

    arguments given;
    while (!before.empty()) {
        const key *k = need(v->keys, before[0], "", ignored);
        if (k && !is_positional(*v, before, given) && before.size() <= k->values.size())
            return value_candidates(k->values[before.size() - 1]);
        if (!take_pair(*v, before, given).empty())
            return {};
    }
    std::vector<std::string> out;
    for (auto &k : v->keys)
        if (k.repeat || !given.has(k.name))
            out.emplace_back(k.name);
    return out;
}

} // namespace

std::vector<std::string> complete(std::span<const std::string> words)
{
    if (words.empty())
        return {};
    const std::string &last = words.back();
    auto out = possible(words.first(words.size() - 1));
    std::erase_if(out, [&](const std::string &s) { return s != "<dev>" && !s.starts_with(last); });
    return out;
}

} // namespace mrcctl
