// SPDX-License-Identifier: GPL-2.0
// table.cc - the table of mrcctl's objects, verbs and keys; see grammar.h.
#include "grammar.h"

namespace mrcctl {

namespace {

key dev_key(bool required)
{
    return {"dev", {"DEV"}, "the MRC device", required, false, true};
}

key file_key()
{
    return {"file", {"FILE"}, "the fabric file", true, false, true};
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
                     {"seconds", {"TIME"}, "for so long; without: until interrupted"},
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
                     {"timeout", {"TIME"}, "stop after so long: 10s, 500ms (a number alone: s)"},
                 },
                 example},
            }};
}

std::vector<object> make_table()
{
    return {
        {"status",
         "is all well? One screen: problems, planes with rates, peers",
         {
             {"",
              action::status,
              "look at planes, peers and paths (-d: all peers); status 0 well, 1 a problem, 2 it could not be looked at",
              {dev_key(false)},
              "mrcctl status"},
         }},
        {"top",
         "the same, live",
         {
             {"",
              action::top,
              "draw it again and again; q ends",
              {
                  dev_key(false),
                  {"interval", {"TIME"}, "between two screens (a number alone: s; default: 1s)"},
                  {"count", {"N"}, "so many screens"},
              },
              "mrcctl top interval 500ms"},
         }},
        {"metrics",
         "this host for Prometheus",
         {
             {"",
              action::metrics,
              "print devices, planes, paths and counters in Prometheus' text format",
              {{"to", {"FILE"}, "replace FILE by them, as node_exporter's textfile collector wants it"}},
              "mrcctl metrics to /var/lib/prometheus/node-exporter/mrc.prom"},
         }},
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
                  {"dscp-data", {"DSCP"}, "of data packets (0 ... 63, or a name: af11, cs1, ef)"},
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
                  {"damp", {"TIME"}, "half-life of flap damping: 500ms, 2s (a number alone: ms); 0 for none"},
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
              {{"peer", {"GID"}, "only this one", false, false, true}, dev_key(false)},
              "mrcctl peer show"},
         }},
        {"ev",
         "entropy values: single paths to a peer",
         {
             {"show",
              action::ev_show,
              "list EVs of path sets",
              {
                  {"peer", {"GID"}, "of this peer only", false, false, true},
                  dev_key(false),
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
                  {"target-delay", {"TIME"}, "queueing delay aimed at: 9us (a number alone: ns)"},
                  {"base-rtt", {"TIME"}, "round trip without queues; 0: measured"},
                  {"max-cwnd", {"BYTES"}, "largest window"},
                  {"adjust-bytes", {"BYTES"}, "adjust after so many acknowledged"},
                  {"adjust-period", {"TIME"}, "and after so long"},
                  {"eta", {"BYTES"}, "added per period, fractions allowed"},
                  {"fi", {"BYTES"}, "fair increase, fractions allowed"},
                  {"fi-scale", {"RATIO"}, "fast increase"},
                  {"gamma", {"RATIO"}, "multiplicative decrease (0 ... 1)"},
                  {"max-md-jump", {"RATIO"}, "of the window that is left at least (0 ... 1)"},
                  {"trimming", {"on|off"}, "the fabric trims; default: off"},
                  {"quick-adapt", {"on|off"}, "default: on"},
                  {"qa-gate", {"N"}, "quick adapt below max-cwnd / 2^N (0 ... 31)"},
                  {"qa-threshold", {"TIME"}, "delay that calls for it"},
              },
              "mrcctl cc set dev mrc0 id 1 algorithm nscc target-delay 9us"},
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
                  {"name", {"NAME"}, "as shown by mrcctl, rdma statistic or the log", false, false, true},
                  {"as", {"text|page"}, "page: all of them, as a page of the documentation"},
              },
              "mrcctl explain rtx_rack"},
         }},
        {"fabric",
         "fabric files (fabric.toml(5)), without a kernel",
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
             {"export",
              action::fabric_export,
              "a switch's configuration in the words of its system, with known traps as comments (sonic: on stderr)",
              {
                  {"as", {"sonic|frr|cumulus|eos"}, "its system", true, false, true},
                  {"node", {"NAME|all"}, "which switch; all of them: name a folder", true, false, true},
                  {"file", {"FILE"}, "the fabric file, default: /etc/mrc/fabric.toml", false, false, true},
                  {"to", {"DIR"}, "write files NAME.json, .conf, .sh or .cfg into this folder"},
              },
              "mrcctl fabric export sonic p1-t0-1 fabric.toml >p1-t0-1.json"},
             {"diagnose",
              action::fabric_diagnose,
              "name the parts that are at fault, by what the probes of many hosts found",
              {
                  file_key(),
                  {"results", {"FILE"}, "lines of mrcd --probe-file (repeat); -: standard input", true, true},
              },
              "mrcctl fabric diagnose fabric.toml results h1.jsonl results h2.jsonl"},
         }},
        {"probe",
         "which paths to a peer are alive",
         {
             {"",
              action::probe,
              "ask the peer by each EV of its path set, or by those given, and draw plane by path",
              {
                  {"peer", {"GID"}, "whom; a host that QPs or ordinary IP talk to", true, false, true},
                  {"dev", {"DEV"}, "by this device; without: the only one, or the only one that knows the peer", false,
                   false, true},
                  {"ev", {"PORT", "VALUE"}, "by this one (repeat); it need not be in a profile", false, true},
                  {"fmt", {"srv6|stev|udp"}, "of these values, default: srv6 where they have colons, else udp"},
                  {"tc", {"N"}, "traffic class, default: of control packets"},
                  {"timeout", {"TIME"}, "for answers, default: 1s (a number alone: ms)"},
                  {"tries", {"N"}, "ask again so often where no answer comes, default: 3"},
              },
              "mrcctl probe fd00:6d72:63::2"},
         }},
        {"selfprobe",
         "packets of this host to itself, which tell cables apart",
         {
             {"show",
              action::selfprobe_show,
              "what became of them, path by path (-d: with round trips and settings)",
              {dev_key(false), {"plane", {"N"}, "of this plane only"}},
              "mrcctl selfprobe show plane 2"},
             {"set",
              action::selfprobe_set,
              "send these and no others; mrcd does it by itself, this is for tests",
              {
                  dev_key(true),
                  {"test",
                   {"t0|t1|split", "PLANE", "PATH"},
                   "along these uSIDs, which end with ours (repeat)",
                   false,
                   true},
                  {"host", {"on|off"}, "through this host's own stack, too: is it starved? default: off"},
                  {"interval", {"TIME"}, "between two of a path, default: 100ms (a number alone: ms)"},
                  {"timeout", {"TIME"}, "lost if not back by then, default: 10ms"},
                  {"stall", {"TIME"}, "the host is starved if its timer is so late, default: 5ms"},
                  {"expiry", {"TIME"}, "they stop if nobody repeats this, default: 60s"},
                  {"budget", {"BYTES"}, "a second and plane, default: 0.01 % of its rate"},
                  {"full-every", {"N"}, "one in so many is as long as the MTU; 0: none; default: 100"},
                  {"size", {"BYTES"}, "of the others, default: the shortest"},
                  {"dscp", {"DSCP"}, "default: of control packets"},
              },
              "mrcctl selfprobe set dev mrc0 host on test t0 1 fcbb:bb00:1001:1201:: \\\n"
              "           test t1 1 fcbb:bb00:1001:1101:1001:1201::"},
             {"del", action::selfprobe_del, "end all", {dev_key(true)}, "mrcctl selfprobe del dev mrc0"},
         }},
        {"log",
         "what happened to planes, peers and EVs, and why",
         {
             {"",
              action::log,
              "print what the module remembers, the oldest first (-j: one JSON object per line)",
              {
                  {"since", {"TIME"}, "not before: 10m, 2h, 12:03, 2026-11-29, 2026-11-29T12:03:11", false, false, true},
                  dev_key(false),
                  {"plane", {"N"}, "of this plane only"},
                  {"peer", {"GID"}, "of this peer only"},
              },
              "mrcctl log since 10m plane 2"},
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
        {"report",
         "one file for a bug report, without secrets",
         {
             {"",
              action::report,
              "write a tar archive of status, settings, counters, events and logs; list what is in it",
              {
                  {"to", {"FILE"}, "a new file, default: mrc-report-DATE-TIME.tar here"},
                  {"fabric", {"FILE"}, "the fabric file, default: /etc/mrc/fabric.toml"},
                  {"names", {"on|off"}, "names of hosts, default: off"},
              },
              "mrcctl report"},
         }},
    };
}

} // namespace

const std::vector<object> &command_table()
{
    static const std::vector<object> table = make_table();
    return table;
}

} // namespace mrcctl
