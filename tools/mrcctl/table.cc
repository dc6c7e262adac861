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
                     {"seconds", {"TIME"}, "how long to count; default: until interrupted"},
                     {"qpn", {"N"}, "count only packets of this local QP"},
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
                     {"count", {"N"}, "stop after N events"},
                     {"timeout", {"TIME"}, "stop after this time: 10s, 500ms (a number alone: s)"},
                 },
                 example},
            }};
}

std::vector<object> make_table()
{
    return {
        {"status",
         "health on one screen: problems, planes with rates, peers",
         {
             {"",
              action::status,
              "check planes, peers and paths (-d: all peers); exit status 0: healthy, 1: a problem, 2: the check failed",
              {dev_key(false)},
              "mrcctl status"},
         }},
        {"top",
         "the screen of status, live",
         {
             {"",
              action::top,
              "show the screen of status and refresh it; q quits",
              {
                  dev_key(false),
                  {"interval", {"TIME"}, "time between refreshes (a number alone: s), default: 1s"},
                  {"count", {"N"}, "exit after N refreshes"},
              },
              "mrcctl top interval 500ms"},
         }},
        {"metrics",
         "metrics of this host for Prometheus",
         {
             {"",
              action::metrics,
              "print devices, planes, paths and counters in the Prometheus text format",
              {{"to", {"FILE"}, "write FILE instead, atomically, for the textfile collector of node_exporter"}},
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
                  {"cwnd", {"BYTES"}, "congestion window of new QPs that have no CC profile (4k ... 1g)"},
                  {"mpr", {"UNITS"}, "PSN window of new QPs, in units of 128 PSNs (1 ... 32)"},
                  {"hop-limit", {"N"}, "hop limit of outer headers (1 ... 255)"},
                  {"dscp-data", {"DSCP"}, "DSCP of data packets (0 ... 63, or a name: af11, cs1, ef)"},
                  {"dscp-rtx", {"DSCP"}, "DSCP of retransmissions"},
                  {"dscp-control", {"DSCP"}, "DSCP of control packets"},
                  {"dscp-no-trim", {"DSCP"}, "DSCP of probes, and of data that switches must not trim"},
                  {"dscp-trimmed", {"DSCP"}, "DSCP that switches set in trimmed packets"},
                  {"dscp-trimmed-lasthop", {"DSCP"}, "DSCP that the last switch sets in trimmed packets"},
                  {"profile", {"ID"}, "default EV profile; 0: EVs that the kernel makes"},
                  {"cc-profile", {"ID"}, "CC profile of new QPs; 0: a fixed window for each QP"},
                  {"active-evs", {"N"}, "EVs that a new QP sprays over (1 ... 4096)"},
                  {"trim-nack", {"on|off"}, "let switches trim data of this host, and NACK trimmed packets"},
                  {"timestamps", {"on|off"}, "put timestamps into data packets, for congestion control"},
                  {"dyn-mpr", {"on|off"}, "dynamic MPR; set it on both hosts"},
                  {"strict", {"on|off"}, "new QPs place data in memory in order"},
                  {"sleek", {"on|off"}, "new QPs also infer loss from the number of packets out of order (SLEEK)"},
                  {"oor-nack", {"on|off"}, "new QPs send a NACK for PSNs beyond the window"},
                  {"exp-cnt", {"N"}, "how many retries of new QPs double the timeout (0 ... 25)"},
                  {"burst", {"N"}, "packets that new QPs send by one EV before the next (1 ... 16; 0: 4 KiB of them)"},
                  {"ev-port-low", {"on|off"}, "the low 16 bits of an EV are the UDP source port; set it on both hosts"},
                  {"mrc-pad", {"on|off"}, "new QPs of the mrc.h API pad payloads to four bytes"},
                  {"incast", {"on|off"}, "ask senders to slow down when many send at once"},
                  {"damp", {"TIME"}, "half-life of flap damping: 500ms, 2s (a number alone: ms); 0: no damping"},
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
                  {"plane", {"N"}, "number of the plane, from 1", true},
                  {"admin", {"on|off"}, "whether the device uses the plane"},
                  {"sid", {"ADDR"}, "SRv6 locator of this host on the plane; :: removes it"},
                  {"netdev", {"PORT"}, "keep the number for this interface, which is not a port yet; without other keys"},
              },
              "mrcctl plane set dev mrc0 plane 1 sid fcbb:bb00:1201::"},
         }},
        {"profile",
         "EV profiles: the paths towards a destination",
         {
             {"show",
              action::profile_show,
              "list profiles (-d: with their EVs)",
              {dev_key(false), {"id", {"ID"}, "show only this one"}},
              "mrcctl -d profile show"},
             {"set",
              action::profile_set,
              "create or replace a profile",
              {
                  dev_key(true),
                  {"id", {"ID"}, "number of the profile, not 0", true},
                  {"dst", {"ADDR[/LEN]"}, "GID or prefix of the destination; default: any"},
                  {"fmt", {"srv6|udp|stev"}, "format of the EVs"},
                  {"mode",
                   {"exp|gen|auto"},
                   "exp: the EVs given by ev (default); gen: generated from fields; auto: made by the kernel"},
                  {"min-active", {"N"}, "keep at least N EVs usable; 0: a quarter of them"},
                  {"count", {"N"}, "number of EVs in modes auto and gen"},
                  {"widths", {"W,W,..."}, "mode gen: widths of the fields of the format, in bits"},
                  {"gen",
                   {"PORT"},
                   "mode gen: EVs on this plane (0: all planes in turn), from the fields that follow",
                   false,
                   true},
                  {"field",
                   {"WIDTH,INIT[,MASK,MIN,MAX]"},
                   "a field of WIDTH bits: INIT, with the numbers MIN ... MAX in the bits of MASK",
                   false,
                   true},
                  {"copy",
                   {"dst|src:BIT:WIDTH:AT"},
                   "copy WIDTH bits of the peer's (dst) or the own (src) address into each EV at bit AT",
                   false,
                   true},
                  {"ev",
                   {"PORT", "VALUE"},
                   "an EV: plane and value (srv6: ADDR[,SEGMENT]; udp: number; stev: 0x...)",
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
                  {"dst", {"ADDR[/LEN]"}, "its destination; default: the profile for any destination"},
              },
              "mrcctl profile del dev mrc0 id 1 dst fd00::2"},
         }},
        {"peer",
         "remote GIDs and the state of the paths to them",
         {
             {"show",
              action::peer_show,
              "list peers",
              {{"peer", {"GID"}, "show only this one", false, false, true}, dev_key(false)},
              "mrcctl peer show"},
         }},
        {"ev",
         "entropy values: single paths to a peer",
         {
             {"show",
              action::ev_show,
              "list the EVs of each path set",
              {
                  {"peer", {"GID"}, "show only EVs to this peer", false, false, true},
                  dev_key(false),
                  {"state", {"good|skip|assumed-bad|denied"}, "show only EVs in this state"},
                  {"named", {"ID"}, "show only path sets of QPs that name this EV profile; 0: of QPs that name none"},
              },
              "mrcctl ev show peer fd00::2 state assumed-bad"},
             {"set",
              action::ev_set,
              "deny an EV, or allow it again",
              {
                  dev_key(true),
                  {"peer", {"GID"}, "the peer that the EV leads to", true},
                  {"named", {"ID"}, "in the path set of QPs that name this EV profile"},
                  {"index", {"N"}, "index of the EV, as ev show prints it", true, true},
                  {"state", {"good|denied"}, "new state of the EV", true},
              },
              "mrcctl ev set dev mrc0 peer fd00::2 index 3 state denied"},
         }},
        {"cc",
         "congestion control profiles",
         {
             {"show",
              action::cc_show,
              "list CC profiles",
              {dev_key(false), {"id", {"ID"}, "show only this one"}},
              "mrcctl cc show"},
             {"set",
              action::cc_set,
              "create or replace a CC profile; defaults follow from link rate and RTT",
              {
                  dev_key(true),
                  {"id", {"ID"}, "number of the profile, not 0", true},
                  {"algorithm", {"nscc|fixed"}, "how the window follows congestion, default: fixed"},
                  {"window", {"BYTES"}, "fixed: the window; nscc: the initial window"},
                  {"target-delay", {"TIME"}, "target queueing delay: 9us (a number alone: ns)"},
                  {"base-rtt", {"TIME"}, "round trip time without queueing; 0: measured"},
                  {"max-cwnd", {"BYTES"}, "largest window"},
                  {"adjust-bytes", {"BYTES"}, "adjust the window after this many acknowledged bytes"},
                  {"adjust-period", {"TIME"}, "adjust the window at least this often"},
                  {"eta", {"BYTES"}, "additive increase per period, fractions allowed"},
                  {"fi", {"BYTES"}, "fair increase, fractions allowed"},
                  {"fi-scale", {"RATIO"}, "factor of the fast increase"},
                  {"gamma", {"RATIO"}, "factor of the multiplicative decrease (0 ... 1)"},
                  {"max-md-jump", {"RATIO"}, "part of the window that one decrease leaves at least (0 ... 1)"},
                  {"trimming", {"on|off"}, "whether switches trim packets; default: off"},
                  {"quick-adapt", {"on|off"}, "shrink the window in one step under heavy congestion; default: on"},
                  {"qa-gate", {"N"}, "quick adapt acts below max-cwnd / 2^N acknowledged bytes (0 ... 31)"},
                  {"qa-threshold", {"TIME"}, "queueing delay that triggers quick adapt"},
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
              {dev_key(false), {"qpn", {"N"}, "show only this one"}},
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
         "what a counter, hint, state or event means, and what to do about it",
         {
             {"",
              action::explain,
              "explain a name; without one: list all names (-d: with causes)",
              {
                  {"name", {"NAME"}, "a name that mrcctl, rdma statistic or the log prints", false, false, true},
                  {"as", {"text|page"}, "page: print all names as a page of the documentation"},
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
                  {"plane", {"N"}, "number of the plane, default: 1"},
                  {"as", {"text|svg"}, "format of the drawing, default: text"},
              },
              "mrcctl fabric show fabric.toml plane 2 as svg >plane2.svg"},
             {"check",
              action::fabric_check,
              "check the file, and trace every EV of some pairs of hosts through the routes of the switches",
              {
                  file_key(),
                  {"pairs", {"N"}, "number of random pairs, besides those with exceptions (default 200)"},
                  {"seed", {"N"}, "seed of the random choice, default: 1"},
              },
              "mrcctl fabric check fabric.toml pairs 1000"},
             {"generate",
              action::fabric_generate,
              "expand [topology]: the lines for one node, or the whole of a small fabric as lists",
              {
                  file_key(),
                  {"node", {"NAME"}, "print only the lines for this host or switch"},
              },
              "mrcctl fabric generate fabric.toml node h3-7"},
             {"export",
              action::fabric_export,
              "print the configuration of a switch for its operating system, with known pitfalls as comments (sonic: on stderr)",
              {
                  {"as", {"sonic|frr|cumulus|eos"}, "operating system of the switch", true, false, true},
                  {"node", {"NAME|all"}, "the switch; all: every switch, into the folder of to", true, false, true},
                  {"file", {"FILE"}, "the fabric file, default: /etc/mrc/fabric.toml", false, false, true},
                  {"to", {"DIR"}, "write one file per switch into this folder (NAME.json, .conf, .sh or .cfg)"},
              },
              "mrcctl fabric export sonic p1-t0-1 fabric.toml >p1-t0-1.json"},
             {"diagnose",
              action::fabric_diagnose,
              "name faulty parts of the fabric, from probe results of many hosts",
              {
                  file_key(),
                  {"results", {"FILE"}, "file written by mrcd --probe-file; -: standard input", true, true},
              },
              "mrcctl fabric diagnose fabric.toml results h1.jsonl results h2.jsonl"},
         }},
        {"probe",
         "which paths to a peer are alive",
         {
             {"",
              action::probe,
              "probe a peer on each EV of its path set, or on given EVs, and draw a table of planes and paths",
              {
                  {"peer", {"GID"}, "the peer; a host that QPs or ordinary IP traffic of this host reach", true, false, true},
                  {"dev", {"DEV"}, "the MRC device; default: the only one, or the only one that knows the peer", false,
                   false, true},
                  {"ev", {"PORT", "VALUE"}, "probe this EV; it need not be in a profile", false, true},
                  {"fmt", {"srv6|stev|udp"}, "format of ev; default: srv6 if the value has colons, else udp"},
                  {"tc", {"N"}, "traffic class of probes, default: that of control packets"},
                  {"timeout", {"TIME"}, "how long to wait for answers (a number alone: ms), default: 1s"},
                  {"tries", {"N"}, "probes per EV while no answer comes, default: 3"},
              },
              "mrcctl probe fd00:6d72:63::2"},
         }},
        {"selfprobe",
         "probes that this host sends to itself, to find faulty cables",
         {
             {"show",
              action::selfprobe_show,
              "show sent and lost self-probes of each path (-d: with round trips and settings)",
              {dev_key(false), {"plane", {"N"}, "show only this plane"}},
              "mrcctl selfprobe show plane 2"},
             {"set",
              action::selfprobe_set,
              "replace all self-probes by these; for tests, as mrcd sets self-probes by itself",
              {
                  dev_key(true),
                  {"test",
                   {"t0|t1|split", "PLANE", "PATH"},
                   "a path: its kind, plane and uSIDs, the last of them of this host",
                   false,
                   true},
                  {"host", {"on|off"}, "also send self-probes through the stack of this host, to detect a busy host; default: off"},
                  {"interval", {"TIME"}, "time between two self-probes of a path (a number alone: ms), default: 100ms"},
                  {"timeout", {"TIME"}, "a self-probe that takes longer is lost, default: 10ms"},
                  {"stall", {"TIME"}, "the host is too busy to judge if its timer is this late, default: 5ms"},
                  {"expiry", {"TIME"}, "self-probes stop if this command is not repeated in time, default: 60s"},
                  {"budget", {"BYTES"}, "bytes per second and plane, default: 0.01 % of the rate of the plane"},
                  {"full-every", {"N"}, "every Nth self-probe is as long as the MTU; 0: none; default: 100"},
                  {"size", {"BYTES"}, "length of the others, default: the shortest"},
                  {"dscp", {"DSCP"}, "DSCP of self-probes, default: that of control packets"},
              },
              "mrcctl selfprobe set dev mrc0 host on test t0 1 fcbb:bb00:1001:1201:: \\\n"
              "           test t1 1 fcbb:bb00:1001:1101:1001:1201::"},
             {"del", action::selfprobe_del, "stop all self-probes", {dev_key(true)}, "mrcctl selfprobe del dev mrc0"},
         }},
        {"log",
         "history of planes, peers and EVs, with causes",
         {
             {"",
              action::log,
              "print the log of the module, oldest first (-j: one JSON object per line)",
              {
                  {"since", {"TIME"}, "oldest entry: 10m, 2h, 12:03, 2026-11-29, 2026-11-29T12:03:11", false, false, true},
                  dev_key(false),
                  {"plane", {"N"}, "print only entries of this plane"},
                  {"peer", {"GID"}, "print only entries of this peer"},
              },
              "mrcctl log since 10m plane 2"},
         }},
        events("event", "events of devices, planes, peers and EVs, as they happen", "mrcctl -j event count 1 timeout 10"),
        events("monitor", "another name of event", "mrcctl monitor dev mrc0"),
        watch("latency", action::latency, "histograms of round trip times, per plane",
              "measure round trip times, per plane that sent the packet", "mrcctl latency seconds 10"),
        watch("reorder", action::reorder, "histograms of reordering, per plane",
              "count how many PSNs ahead of the first missing one each data packet arrives, per plane",
              "mrcctl reorder qpn 17"),
        watch("recovery", action::recovery, "losses, and histograms of recovery times",
              "count losses and retransmissions by cause, and the time until lost packets have arrived",
              "mrcctl -j recovery seconds 60"),
        {"doctor",
         "check what keeps MRC from working on this host",
         {
             {"", action::doctor, "check this host; print each failed check with its cause and a command that repairs it", {},
              "mrcctl doctor"},
         }},
        {"report",
         "one file for a bug report, without secrets",
         {
             {"",
              action::report,
              "write a tar archive of status, settings, counters, events and logs, and list its contents",
              {
                  {"to", {"FILE"}, "the new archive, default: mrc-report-DATE-TIME.tar in this folder"},
                  {"fabric", {"FILE"}, "the fabric file, default: /etc/mrc/fabric.toml"},
                  {"names", {"on|off"}, "include names of hosts, default: off"},
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
