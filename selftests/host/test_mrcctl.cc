// SPDX-License-Identifier: GPL-2.0
// test_mrcctl.cc - mrcctl's parser, values, printers, and messages built and
// read by tools/lib/nl. No kernel. Built and run by test_mrcctl.sh; TAP lines.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include <fmt/format.h>
#include <linux/genetlink.h>
#include <linux/mrc.h>

#include "../../tools/lib/health/exposition.h"
#include "../../tools/mrcctl/gather.h"
#include "../../tools/mrcctl/grammar.h"
#include "../../tools/mrcctl/printer.h"
#include "../../tools/mrcctl/records.h"
#include "../../tools/mrcctl/values.h"
#include "../../tools/mrcctl/watch/buckets.h"
#include "../../tools/mrcctl/watch/histogram.h"
#include "../../tools/mrcctl/watch/layout.h"
#include "test_mrcctl.h"

using namespace mrcctl;

namespace {

std::vector<std::string> split(const std::string &line)
{
    std::vector<std::string> out(1);
    for (char c : line)
        if (c == ' ')
            out.emplace_back();
        else
            out.back() += c;
    return line.empty() ? std::vector<std::string>{} : out;
}

// "object verb key=value,value ..." or "! error" or "help"
std::string parsed_as(const std::string &line)
{
    auto words = split(line);
    parsed p = parse(words);
    if (!p.error.empty())
        return "! " + p.error;
    if (!p.help.empty())
        return "help";
    std::string s = fmt::format("{} {}", p.cmd->obj->name, p.cmd->v->name);
    for (auto &i : p.cmd->args.items())
        s += fmt::format(" {}={}", i.k->name, fmt::join(i.values, ","));
    return s;
}

std::string thrown(const std::function<void()> &f)
{
    try {
        f();
    } catch (const bad_value &e) {
        return e.what();
    }
    return "";
}

std::string completions(const std::string &line)
{
    auto words = split(line);
    return fmt::format("{}", fmt::join(complete(words), " "));
}

std::string printed(const record &r, print_options opt)
{
    char *buf = nullptr;
    size_t n = 0;
    std::FILE *f = open_memstream(&buf, &n);
    auto p = make_printer(opt, f, stderr);
    p->object(r);
    p->finish();
    std::fclose(f);
    std::string s(buf, n);
    std::free(buf);
    return s;
}

void test_grammar()
{
    equal("nothing is status", parsed_as(""), "status ");
    equal("object alone is show", parsed_as("plane"), "plane show");
    equal("abbreviations", parsed_as("pl se de mrc0 pl 1 a off"),
          "plane set dev=mrc0 plane=1 admin=off");
    equal("lone device name", parsed_as("dev show mrc0"), "dev show dev=mrc0");
    equal("lone device name, of any object", parsed_as("plane set mrc0 plane 1 admin off"),
          "plane set dev=mrc0 plane=1 admin=off");
    equal("lone device name, where it may be left out", parsed_as("peer show mrc0"), "peer show dev=mrc0");
    check("a second lone word is no device", parsed_as("plane set mrc0 mrc1").starts_with("! "),
          parsed_as("plane set mrc0 mrc1"));
    equal("lone device name, set", parsed_as("dev set mrc0 icrc off"), "dev set dev=mrc0 icrc=off");
    equal("repeated key", parsed_as("profile set dev m id 1 ev 1 5 ev 2 6"),
          "profile set dev=m id=1 ev=1,5 ev=2,6");
    equal("event has no verb", parsed_as("event dev mrc0 count 3"), "event  dev=mrc0 count=3");
    equal("monitor is the same", parsed_as("mon count 3"), "monitor  count=3");
    check("of one action",
          parse(split("event")).cmd->v->what == action::monitor &&
              parse(split("monitor")).cmd->v->what == action::monitor);
    equal("ev is not event", parsed_as("ev"), "ev show");
    equal("ambiguous object", parsed_as("p show"), "! object \"p\" could be plane, profile, peer, probe");
    equal("ambiguous key", parsed_as("dev set mrc0 dscp 3"),
          "! key \"dscp\" could be dscp-data, dscp-rtx, dscp-control, dscp-no-trim, "
          "dscp-trimmed, dscp-trimmed-lasthop");
    equal("exact key wins over a longer one", parsed_as("dev set mrc0 dscp-trimmed 3"),
          "dev set dev=mrc0 dscp-trimmed=3");
    equal("generators and their fields stay in order",
          parsed_as("profile set dev m id 1 gen 1 field 16,0 gen 2 field 16,1"),
          "profile set dev=m id=1 gen=1 field=16,0 gen=2 field=16,1");
    equal("copies stand in their generators",
          parsed_as("profile set dev m id 1 dst fd00::/64 gen 1 field 16,0 copy dst:96:16:64 gen 2"),
          "profile set dev=m id=1 dst=fd00::/64 gen=1 field=16,0 copy=dst:96:16:64 gen=2");
    equal("exact name wins", parsed_as("ev show dev e"), "ev show dev=e");
    equal("what peers read otherwise",
          parsed_as("dev set mrc0 oor-nack on exp-cnt 3 ev-port-low off mrc-pad on udp-port 4971 ep-op-high on port-bit-1 off"),
          "dev set dev=mrc0 oor-nack=on exp-cnt=3 ev-port-low=off mrc-pad=on udp-port=4971 ep-op-high=on port-bit-1=off");
    equal("unknown object", parsed_as("route"), "! unknown object \"route\"");
    equal("verb in front", parsed_as("show dev mrc0"), "! unknown object \"show\"; did you mean \"dev show\"?");
    equal("another tool's word", parsed_as("link show"), "! unknown object \"link\"; did you mean \"dev show\"?");
    equal("both", parsed_as("show link"), "! unknown object \"show\"; did you mean \"dev show\"?");
    equal("a slip", parsed_as("palne show"), "! unknown object \"palne\"; did you mean \"plane\"?");
    equal("unknown verb", parsed_as("profile add"), "! unknown verb \"add\" of profile: show, set, del");
    equal("and where to read on", parse(split("profile add")).see, "mrcctl profile help");
    equal("unknown key", parsed_as("qp show qnp 1"), "! unknown key \"qnp\" of qp show; did you mean \"qpn\"?");
    equal("unknown setting", parsed_as("dev set mrc0 hop-limt 9"),
          "! unknown setting \"hop-limt\" of mrc0; did you mean \"hop-limit\"?");
    equal("the MTU", parsed_as("dev set mrc0 mtu 9000"), "! unknown setting \"mtu\" of mrc0: ip link sets the MTU");
    equal("a number alone", parsed_as("qp show mrc0 17"), "! unexpected \"17\": qpn 17?");
    equal("an address is a peer", parsed_as("probe fd00::2"), "probe  peer=fd00::2");
    equal("beside a device", parsed_as("probe mrc0 10.0.0.2 tries 2"), "probe  dev=mrc0 peer=10.0.0.2 tries=2");
    equal("in either order", parsed_as("peer show fd00::2 mrc0"), "peer show peer=fd00::2 dev=mrc0");
    equal("nothing alone behind a key", parsed_as("probe tries 2 fd00::2"), "! unknown key \"fd00::2\" of probe");
    equal("value missing", parsed_as("qp show qpn"), "! \"qpn\" needs a value: N");
    equal("second value missing", parsed_as("profile set dev m id 1 ev 1"),
          "! \"ev\" needs two values: PORT VALUE");
    equal("twice", parsed_as("qp show qpn 1 qpn 2"), "! \"qpn\" is given twice");
    check("required key missing", parsed_as("plane set dev mrc0").starts_with("! \"plane\" is missing"),
          parsed_as("plane set dev mrc0"));
    equal("help", parsed_as("help"), "help");
    equal("help of an object", parsed_as("qp help"), "help");
    equal("help of a verb", parsed_as("qp show help"), "help");
    equal("help in the middle", parsed_as("qp show qpn 1 help"), "help");
}

void test_complete()
{
    equal("complete objects", completions("p"), "plane profile peer probe");
    equal("complete verbs", completions("profile "), "show set del help");
    equal("complete keys left", completions("plane set dev mrc0 plane 1 "), "admin sid netdev");
    equal("complete choices", completions("plane set dev mrc0 admin o"), "on off");
    equal("complete devices", completions("qp show dev "), "<dev>");
    equal("complete peers", completions("ev show peer "), "<peer>");
    equal("complete files", completions("fabric check file "), "<file>");
    equal("complete files of names", completions("log fabric "), "<file>");
    equal("complete free values", completions("qp show qpn "), "");
    equal("complete repeated keys", completions("ev set dev m peer ::1 index 1 i"), "index");
}

void test_values()
{
    check("number, hex", parse_number("0x10", 0, 99, "n") == 16);
    equal("number out of range", thrown([] { parse_number("100", 0, 99, "n"); }),
          "n: 100 is not in 0 ... 99");
    equal("number with a tail", thrown([] { parse_number("1x", 0, 99, "n"); }),
          "n: \"1x\" is not a number");
    check("time in other units", parse_time("9us", "ns", 0, 99999, "t") == 9000 && parse_time("2s", "ms", 0, 9999, "t") == 2000 &&
                                     parse_time("7", "ns", 0, 9, "t") == 7 && parse_time("0", "ms", 0, 9, "t") == 0);
    check("time alone in another unit", parse_time("3", "ms", 0, 9999, "t", "s") == 3000);
    equal("no unit of time", thrown([] { parse_time("9m", "ns", 0, 99, "t"); }),
          "t: \"9m\" is no time: 10ns, 10us, 10ms or 10s");
    equal("time out of range", thrown([] { parse_time("2s", "ms", 0, 99, "t"); }), "t: 2s is not in 0ms ... 99ms");
    equal("time finer than its unit", thrown([] { parse_time("1500us", "ms", 0, 99, "t"); }),
          "t: 1500us is no whole number of ms");
    equal("time beyond 64 bits", thrown([] { parse_time("99999999999999999s", "ns", 0, UINT64_MAX, "t"); }),
          fmt::format("t: 99999999999999999s is not in 0ns ... {}ns", UINT64_MAX));
    check("DSCPs by name", parse_dscp("af11", "d") == 10 && parse_dscp("af43", "d") == 38 && parse_dscp("cs6", "d") == 48 &&
                               parse_dscp("ef", "d") == 46 && parse_dscp("le", "d") == 1 && parse_dscp("63", "d") == 63);
    equal("no DSCP", thrown([] { parse_dscp("af14", "d"); }),
          "d: \"af14\" is no DSCP: 0 ... 63, cs0 ... cs7, af11 ... af43, ef, va, le");
    equal("a SID has no length", thrown([] { parse_sid("fcbb:bb00:1201::/48"); }),
          "sid: a SID has no length: fcbb:bb00:1201::");
    equal("what a person may set", thrown([] { parse_ev_order("bad"); }), "state: \"bad\" is none of good, denied");
    equal("negative number", thrown([] { parse_number("-1", 0, UINT64_MAX, "n"); }),
          "n: \"-1\" is not a number");
    equal("number beyond 64 bits", thrown([] { parse_number("99999999999999999999", 0, UINT64_MAX, "n"); }),
          "n: \"99999999999999999999\" is not a number");
    check("size", parse_size("512k", 0, 1 << 30, "s") == 512 * 1024);
    check("size overflow", !thrown([] { parse_size("17179869185g", 0, UINT64_MAX, "s"); }).empty());
    equal("IPv4 is mapped", format_address(parse_address("10.0.0.1", "a")), "::ffff:10.0.0.1");
    equal("a SID is IPv6", thrown([] { parse_sid("10.0.0.1"); }),
          "sid: \"10.0.0.1\" is an IPv4 address, a SID is IPv6: fcbb:bb00:1201::");
    equal("a mapped one, too", thrown([] { parse_sid("::ffff:10.0.0.1"); }),
          "sid: \"::ffff:10.0.0.1\" is an IPv4 address, a SID is IPv6: fcbb:bb00:1201::");
    equal("a SID", format_address(parse_sid("fcbb:bb00:1201::")), "fcbb:bb00:1201::");
    equal("octal", thrown([] { parse_number("010", 0, 99, "n"); }),
          "n: \"010\" begins with 0: decimal without it, or 0x...");
    check("zero", parse_number("0", 0, 99, "n") == 0);
    equal("bad address", thrown([] { parse_address("fd00::g", "dst"); }),
          "dst: \"fd00::g\" is not an address");
    for (auto &[fmt, text] : {std::pair<uint32_t, std::string>{MRC_FMT_SRV6, "fcbb:bb00:1201::"},
                              {MRC_FMT_SRV6, "fcbb:bb00:1201::,fcbb:bb00:1301::"},
                              {MRC_FMT_UDP, "50000"},
                              {MRC_FMT_STEV, "0xdeadbeef"}}) {
        ev_value v = parse_ev(fmt, text);
        equal("EV there and back: " + text, format_ev(fmt, v), text);
        equal("EV guessed: " + text, format_ev(0, v), text);
    }
    ev_value udp = parse_ev(MRC_FMT_UDP, "0x1234");
    check("UDP EV is big-endian", udp[0] == 0x12 && udp[1] == 0x34);
    equal("EV too large", thrown([] { parse_ev(MRC_FMT_UDP, "65536"); }),
          "udp EV: 65536 is not in 0 ... 65535");
    check("fraction", parse_fixed("0.75", 16, 1 << 16, "r") == 0xc000);
    check("fraction, rounded", parse_fixed("1.003", 8, UINT32_MAX, "r") == 257);
    equal("fraction out of range", thrown([] { parse_fixed("1.1", 16, 1 << 16, "gamma"); }),
          "gamma: 1.1 is not in 0 ... 1");
    equal("no fraction", thrown([] { parse_fixed("1e3", 16, 1 << 16, "gamma"); }),
          "gamma: \"1e3\" is not a decimal number");
    equal("half a fraction", thrown([] { parse_fixed("1.", 16, 1 << 16, "gamma"); }),
          "gamma: \"1.\" is not a decimal number");
    for (const std::string text : {"0", "0.8", "1", "12.5"})
        equal("fraction there and back: " + text,
              format_fixed(parse_fixed(text, 16, UINT32_MAX, "r"), 16), text);
    equal("a prefix", format_prefix(parse_prefix("fd00:0::/16", "dst").address, 16), "fd00::/16");
    check("of 16 bits", parse_prefix("fd00::/16", "dst").length == 16);
    check("an address is one of 128", parse_prefix("fd00::1", "dst").length == 128);
    equal("which is not shown", format_prefix(parse_prefix("fd00::1", "dst").address, 128), "fd00::1");
    check("IPv4 is mapped, and its length", parse_prefix("10.77.0.0/16", "dst").length == 112);
    equal("as it is shown", format_prefix(parse_prefix("10.77.0.0/16", "dst").address, 112),
          "::ffff:10.77.0.0/112");
    equal("bits behind a prefix", thrown([] { parse_prefix("fd00::1/64", "dst"); }),
          "dst: \"fd00::1/64\" has bits beyond its length: fd00::/64?");
    equal("one such bit", thrown([] { parse_prefix("fd80::/8", "dst"); }),
          "dst: \"fd80::/8\" has bits beyond its length: fd00::/8?");
    check("a length of 0", !thrown([] { parse_prefix("::/0", "dst"); }).empty());
    check("one of 129", !thrown([] { parse_prefix("::/129", "dst"); }).empty());
    check("one of 33, IPv4", !thrown([] { parse_prefix("10.0.0.0/33", "dst"); }).empty());
    copy_rule c = parse_copy("src:96:16:0x20");
    check("a copy", c.from == MRC_COPY_SRC && c.bit == 96 && c.width == 16 && c.at == 32);
    check("of the destination", parse_copy("dst:0:1:255").from == MRC_COPY_DST);
    equal("a copy of too little", thrown([] { parse_copy("dst:1:2"); }),
          "copy: \"dst:1:2\" is not dst|src:BIT:WIDTH:AT");
    equal("and of too much", thrown([] { parse_copy("dst:1:2:3:4"); }),
          "copy: \"dst:1:2:3:4\" is not dst|src:BIT:WIDTH:AT");
    check("of nobody", !thrown([] { parse_copy("me:1:2:3"); }).empty());
    check("of no bits", !thrown([] { parse_copy("dst:1:0:3"); }).empty());
    check("of a bit that there is not", !thrown([] { parse_copy("dst:128:1:3"); }).empty());
    check("list", parse_list("16,0xc000,0", 5, "l") == std::vector<uint64_t>{16, 0xc000, 0});
    equal("list with a hole", thrown([] { parse_list("1,,2", 5, "l"); }),
          "l: \"\" is not a number");
    equal("list too long", thrown([] { parse_list("1,2,3", 2, "l"); }),
          "l: \"1,2,3\" has more than 2 numbers");
    equal("bad state", thrown([] { parse_ev_state("bad"); }),
          "state: \"bad\" is none of good, skip, assumed-bad, denied");
}

mrcnl::attr_range attrs_of(const mrcnl::request &rq)
{
    return mrcnl::attr_range(rq.bytes().subspan(NLMSG_HDRLEN + GENL_HDRLEN));
}

std::string profile_as(const mrcnl::request &rq, print_options opt)
{
    std::string text;
    char *buf = nullptr;
    size_t size = 0;
    FILE *f = open_memstream(&buf, &size);
    {
        auto out = make_printer(opt, f, f);
        mrcnl::genl_socket nl;
        context ctx{{}, nl, *out, opt};
        profile_gatherer gather(ctx);
        gather.part(mrcnl::table(attrs_of(rq)));
        gather.flush();
        out->finish();
    }
    std::fclose(f);
    text.assign(buf, size);
    std::free(buf);
    return text;
}

// As the kernel shows it: of a device that is an RDMA device, and with its EVs.
mrcnl::request shown_profile(uint32_t fmt, uint32_t mode, const std::function<void(mrcnl::request &)> &rest)
{
    mrcnl::request rq(MRC_CMD_PROFILE_GET);
    rq.u32(MRC_A_DEV_IFINDEX, 7).str(MRC_A_DEV_NAME, "mrc0").str(MRC_A_IBDEV_NAME, "mrc_0");
    rq.nest(MRC_A_PROFILE, [&](auto &n) {
        n.u64(MRC_A_PROFILE_ID, 3).u32(MRC_A_PROFILE_FMT, fmt).u32(MRC_A_PROFILE_MODE, mode);
        n.u32(MRC_A_PROFILE_MIN_ACTIVE, 1);
        rest(n);
    });
    return rq;
}

void put_field(mrcnl::request &g, std::initializer_list<uint32_t> values)
{
    const uint16_t types[] = {MRC_A_FIELD_WIDTH, MRC_A_FIELD_INIT, MRC_A_FIELD_MASK, MRC_A_FIELD_FIRST,
                              MRC_A_FIELD_LAST};
    g.nest(MRC_A_GEN_FIELD, [&](auto &f) {
        for (size_t i = 0; i < values.size(); i++)
            f.u32(types[i], values.begin()[i]);
    });
}

void put_ev(mrcnl::request &n, uint8_t port, uint32_t fmt, const std::string &value)
{
    n.nest(MRC_A_PROFILE_EV, [&](auto &e) {
        e.put(MRC_A_EV_VALUE, parse_ev(fmt, value)).u8(MRC_A_EV_PORT, port);
    });
}

// With -d, and taken by `profile set` as it stands.
void there_and_back(const std::string &what, const mrcnl::request &rq, const std::string &line)
{
    std::string shown = profile_as(rq, {.details = true});
    equal(what + ", with -d", shown, line + "\n");
    shown.pop_back();
    std::string taken = parsed_as("profile set " + shown);
    check(what + " is what profile set takes", taken.starts_with("profile set dev=mrc0 id=3 "), taken);
}

void test_profiles()
{
    auto exp = shown_profile(MRC_FMT_SRV6, MRC_MODE_EXP, [](auto &n) {
        n.put(MRC_A_PROFILE_DST, parse_address("fd00::2", "dst"));
        put_ev(n, 1, MRC_FMT_SRV6, "fcbb:bb00:1201::");
        put_ev(n, 2, MRC_FMT_SRV6, "fcbb:bb00:2201::,fcbb:bb00:2301::");
    });
    equal("EVs as text", profile_as(exp, {}), "dev mrc0 id 3 dst fd00::2 fmt srv6 mode exp min-active 1 evs 2\n");
    there_and_back("EVs", exp, "dev mrc0 id 3 dst fd00::2 fmt srv6 mode exp min-active 1 "
                               "ev 1 fcbb:bb00:1201:: ev 2 fcbb:bb00:2201::,fcbb:bb00:2301::");

    auto gen = shown_profile(MRC_FMT_STEV, MRC_MODE_GEN, [](auto &n) {
        n.u32(MRC_A_PROFILE_COUNT, 2).put(MRC_A_PROFILE_FMT_WIDTHS, std::vector<uint8_t>{16, 16});
        n.nest(MRC_A_PROFILE_GEN, [](auto &g) {
            put_field(g, {16, 0xc000, 3, 0, 3});
            put_field(g, {8, 7});
        });
        put_ev(n, 1, MRC_FMT_STEV, "0xc0000007");
        put_ev(n, 2, MRC_FMT_STEV, "0xc0020007");
    });
    equal("fields as text", profile_as(gen, {}),
          "dev mrc0 id 3 fmt stev mode gen min-active 1 count 2 widths 16,16 "
          "gen 0 field 16,0xc000,0x3,0,3 field 8,0x7 evs 2\n");
    there_and_back("fields", gen, "dev mrc0 id 3 fmt stev mode gen min-active 1 count 2 widths 16,16 "
                                  "gen 0 field 16,0xc000,0x3,0,3 field 8,0x7");
    auto made = profile_as(gen, {.as_json = true});
    check("JSON has ids and the EVs", made.find("\"ifindex\":7,\"ibdev\":\"mrc_0\"") != made.npos &&
          made.find("\"ev\":[{\"port\":1,\"value\":\"0xc0000007\"},") != made.npos, made);

    there_and_back("made up EVs",
                   shown_profile(MRC_FMT_UDP, MRC_MODE_AUTO, [](auto &n) { n.u32(MRC_A_PROFILE_COUNT, 10); }),
                   "dev mrc0 id 3 fmt udp mode auto min-active 1 count 10");
}

void test_template()
{
    auto rq = shown_profile(MRC_FMT_SRV6, MRC_MODE_GEN, [](auto &n) {
        n.put(MRC_A_PROFILE_DST, parse_address("fd00::", "dst")).u8(MRC_A_PROFILE_DST_LEN, 64);
        n.nest(MRC_A_PROFILE_GEN, [](auto &g) {
            g.u8(MRC_A_GEN_PORT, 1);
            put_field(g, {32, 0x4000c000});
            g.nest(MRC_A_GEN_COPY, [](auto &c) {
                c.u32(MRC_A_COPY_FROM, MRC_COPY_DST).u32(MRC_A_COPY_BIT, 114);
                c.u32(MRC_A_COPY_WIDTH, 14).u32(MRC_A_COPY_AT, 82);
            });
        });
    });
    const std::string line = "dev mrc0 id 3 dst fd00::/64 fmt srv6 mode gen min-active 1 gen 1 field 32,0x4000c000 "
                             "copy dst:114:14:82";
    equal("a template as text", profile_as(rq, {}), line + " evs 0\n");
    there_and_back("a template", rq, line);
    auto json = profile_as(rq, {.as_json = true});
    check("a template as JSON", json.find("\"dst\":\"fd00::/64\"") != json.npos &&
          json.find("\"copies\":[{\"from\":\"dst\",\"bit\":114,\"width\":14,\"at\":82}]") != json.npos,
          json);
}

void test_messages()
{
    mrcnl::request rq(MRC_CMD_PLANE_GET);
    gid sid = parse_address("fcbb:bb00:1201::", "sid");
    rq.u32(MRC_A_DEV_IFINDEX, 7).str(MRC_A_DEV_NAME, "mrc0").nest(MRC_A_PLANE, [&](auto &n) {
        n.u8(MRC_A_PLANE_NUMBER, 1).str(MRC_A_PLANE_IFNAME, "eth0");
        n.u8(MRC_A_PLANE_ADMIN, 1).u8(MRC_A_PLANE_CARRIER, 0).u8(MRC_A_PLANE_UP, 0);
        n.put(MRC_A_PLANE_SID, sid).u64(MRC_A_PLANE_TX_PKTS, 1ull << 40);
    });
    record r = plane_record(mrcnl::table(attrs_of(rq)));
    equal("plane as text", printed(r, {}),
          "dev mrc0 plane 1 ifname eth0 admin on carrier off up off sid fcbb:bb00:1201:: "
          "tx-pkts 1099511627776\n");
    equal("plane as JSON", printed(r, {.as_json = true}),
          "[{\"dev\":\"mrc0\",\"ifindex\":7,\"plane\":1,\"ifname\":\"eth0\",\"admin\":true,"
          "\"carrier\":false,\"up\":false,\"sid\":\"fcbb:bb00:1201::\","
          "\"tx_pkts\":1099511627776}]\n");

    auto bytes = rq.bytes();
    for (size_t cut = 0; cut < bytes.size() - NLMSG_HDRLEN - GENL_HDRLEN; cut++)
        plane_record(mrcnl::table(mrcnl::attr_range(
            bytes.subspan(NLMSG_HDRLEN + GENL_HDRLEN, cut)))); // ASan watches
    check("cut-off messages are survived", true);

    mrcnl::request dev(MRC_CMD_DEV_GET);
    dev.u32(MRC_A_DEV_IFINDEX, 7).str(MRC_A_DEV_NAME, "mrc0").nest(MRC_A_DEV, [](auto &n) {
        n.u16(MRC_A_DEV_UDP_PORT, 4971).u8(MRC_A_DEV_OOR_NACK, 1).u8(MRC_A_DEV_EXP_CNT, 25);
        n.u8(MRC_A_DEV_EV_PORT_LOW, 1).u8(MRC_A_DEV_MRC_PAD, 0);
        n.u8(MRC_A_DEV_EP_OP_HIGH, 1).u8(MRC_A_DEV_PORT_BIT_1, 0);
    });
    equal("device as JSON", printed(dev_record(mrcnl::table(attrs_of(dev))), {.as_json = true}),
          "[{\"dev\":\"mrc0\",\"ifindex\":7,\"ibdev\":null,\"udp_port\":4971,"
          "\"oor_nack\":true,\"exp_cnt\":25,\"ev_port_low\":true,\"mrc_pad\":false,"
          "\"ep_op_high\":true,\"port_bit_1\":false}]\n");

    mrcnl::request big(MRC_CMD_PROFILE_SET);
    big.nest(MRC_A_PROFILE, [](auto &n) {
        for (int i = 0; i < 4096; i++)
            n.put(MRC_A_PROFILE_EV, ev_value{});
    });
    check("a nest beyond 64 KiB is noticed", big.too_long());

    mrcnl::request qp(MRC_CMD_QP_GET);
    qp.str(MRC_A_DEV_NAME, "mrc0").nest(MRC_A_QP, [](auto &n) {
        n.u32(MRC_A_QP_NUM, 17).u32(MRC_A_QP_STATE, 3).nest(MRC_A_QP_STATS, [](auto &s) {
            for (auto &[name, v] : {std::pair<const char *, uint64_t>{"tx_pkts", 5}, {"rx_dup", 0}})
                s.nest(MRC_A_STAT, [&](auto &one) {
                    one.str(MRC_A_STAT_NAME, name).u64(MRC_A_STAT_VALUE, v);
                });
        });
    });
    counter_names names;
    record q = qp_record(mrcnl::table(attrs_of(qp)), names);
    check("QP counters only as details", printed(q, {}).find("tx_pkts") == std::string::npos);
    check("QP counters with -d, without zeros",
          printed(q, {.details = true}).ends_with(" tx_pkts 5\n"), printed(q, {.details = true}));
    check("QP counters in JSON",
          printed(q, {.as_json = true}).ends_with("\"stats\":{\"tx_pkts\":5,\"rx_dup\":0}}]\n"));
    using list = counter_list;
    check("counters that a later QP leaves out are 0",
          names.complete({{"rx_dup", 7}}) == list{{"tx_pkts", 0}, {"rx_dup", 7}} &&
              names.complete({}) == list{{"tx_pkts", 0}, {"rx_dup", 0}});
    check("counters of another order are taken as they come",
          names.complete({{"rx_dup", 1}, {"tx_pkts", 2}}) == list{{"rx_dup", 1}, {"tx_pkts", 2}} &&
              names.complete({{"tx_pkts", 3}}) == list{{"rx_dup", 0}, {"tx_pkts", 3}});

    mrcnl::request cc(MRC_CMD_CC_GET);
    cc.str(MRC_A_DEV_NAME, "mrc0").nest(MRC_A_CC, [](auto &n) {
        n.u64(MRC_A_CC_ID, 3).str(MRC_A_CC_ALGORITHM, "uet-1.0-nscc").u32(MRC_A_CC_WINDOW, 0);
        n.u32(MRC_A_CC_GAMMA, 0xcccd).u8(MRC_A_CC_DISABLE_QA, 1).u8(MRC_A_CC_TRIMMING, 1);
    });
    equal("CC profile as text", printed(cc_record(mrcnl::table(attrs_of(cc))), {}),
          "dev mrc0 id 3 algorithm uet-1.0-nscc window 0 gamma 0.8 trimming on "
          "quick-adapt off\n");
    std::string in_json = printed(cc_record(mrcnl::table(attrs_of(cc))), {.as_json = true});
    check("CC profile in JSON, with its state", in_json.find("\"id\":3,\"state\":\"online\"") != std::string::npos,
          in_json);
    mrcnl::request ev(MRC_CMD_PROFILE_GET);
    ev.str(MRC_A_DEV_NAME, "mrc0").nest(MRC_A_PROFILE, [](auto &n) {
        n.u64(MRC_A_PROFILE_ID, 4).u32(MRC_A_PROFILE_FMT, MRC_FMT_UDP).u32(MRC_A_PROFILE_MODE, MRC_MODE_AUTO);
    });
    in_json = printed(profile_record(mrcnl::table(attrs_of(ev))), {.as_json = true});
    check("EV profile in JSON, with its state", in_json.find("\"id\":4,\"state\":\"online\"") != std::string::npos,
          in_json);

    mrcnl::request peer(MRC_CMD_PEER_GET);
    peer.str(MRC_A_DEV_NAME, "mrc0").nest(MRC_A_PEER, [&](auto &n) {
        n.put(MRC_A_PEER_GID, sid).u32(MRC_A_PEER_QPS, 2);
        n.u64(MRC_A_PEER_PATHS, 9).u64(MRC_A_PEER_TURNED_BAD, 1).u64(MRC_A_PEER_TURNED_GOOD, 0);
        n.nest(MRC_A_PEER_CC, [](auto &c) {
            c.u64(MRC_A_CC_ID, 3).str(MRC_A_CC_ALGORITHM, "fixed").u32(MRC_A_CC_CWND, 8192);
            c.u32(MRC_A_CC_INFLIGHT, 0).u32(MRC_A_CC_QPS, 2);
        });
    });
    record peer_shown = peer_record(mrcnl::table(attrs_of(peer)));
    controllers ccs;
    ccs.add(mrcnl::table(attrs_of(peer))[MRC_A_PEER]);
    std::move(ccs).into(peer_shown);
    equal("a peer's controller", printed(peer_shown, {}),
          "dev mrc0 peer fcbb:bb00:1201:: qps 2 cc-profile 3 algorithm fixed cwnd 8192 "
          "inflight 0 cc-qps 2\n");
    check("its path set with -d",
          printed(peer_shown, {.details = true}).find(" qps 2 paths 9 turned-bad 1 turned-good 0 ") != std::string::npos,
          printed(peer_shown, {.details = true}));

    test_profiles();
    test_template();

    record odd;
    odd.add("dev", std::string("\xff" "x"));
    check("names that are not UTF-8", printed(odd, {.as_json = true}).ends_with("x\"}]\n"));
}

void test_counters()
{
    record r, bare;
    r.add("qpn", 1).counters("stats", {{"tx_pkts", 0}, {"rx_pkts", 18446744073709551615ull}});
    std::string json_line = "{\"qpn\":1,\"stats\":{\"tx_pkts\":0,\"rx_pkts\":18446744073709551615}}";
    equal("counters as JSON", printed(r, {.as_json = true}), "[" + json_line + "]\n");
    equal("a line each", printed(r, {.as_json = true, .lines = true}), json_line + "\n");
    check("pretty says the same",
          json::parse(printed(r, {.as_json = true, .pretty = true})) == json::parse("[" + json_line + "]"));
    equal("counters as text: none", printed(r, {}), "qpn 1\n");
    equal("with -d those that are not zero", printed(r, {.details = true}),
          "qpn 1 rx_pkts 18446744073709551615\n");
    bare.counters("stats", {});
    equal("nothing else, and none", printed(bare, {.as_json = true}), "[{\"stats\":{}}]\n");
}

std::string steps_as(const std::vector<histogram::step> &steps)
{
    std::string s;
    for (auto &x : steps)
        s += fmt::format("{}-{}:{} ", x.from, x.to, x.count);
    return s;
}

// The processor's share of one who noted @values, in the slots where the kernel's program puts them.
mrc_hist noted(const std::vector<uint64_t> &values)
{
    mrc_hist h{};
    for (uint64_t v : values) {
        unsigned i = 0;
        while (i + 1 < MRC_HIST_SLOTS && slot_begin(i + 1) <= v)
            i++;
        h.slot[i]++;
        h.count++;
        h.sum += v;
        h.max = std::max<uint64_t>(h.max, v);
        h.least = std::max<uint64_t>(h.least, ~v);
    }
    return h;
}

void test_histogram()
{
    std::string edges;
    for (unsigned i = 0; i < 18; i++)
        edges += fmt::format("{} ", slot_begin(i));
    equal("where steps begin", edges, "0 1 2 3 4 5 6 7 8 10 12 14 16 20 24 28 32 40 ");
    bool grow = true;
    for (unsigned i = 1; i < MRC_HIST_SLOTS; i++)
        grow = grow && slot_begin(i) > slot_begin(i - 1);
    check("each behind the one before", grow);

    histogram none, h;
    equal("of nothing", fmt::format("{} {} {} {}", none.count(), none.min(), none.max(), none.quantile(0.5)),
          "0 0 0 0");
    h.add(noted({0, 0, 5, 9}));
    h.add(noted({100, 1000}));
    equal("two processors", fmt::format("{} {} {} {}", h.count(), h.min(), h.max(), h.mean()),
          "6 0 1000 185");
    equal("steps", steps_as(h.steps()), "0-1:2 5-6:1 8-10:1 96-112:1 896-1024:1 ");
    equal("doublings, gaps too", steps_as(h.doublings()),
          "0-1:2 1-2:0 2-4:0 4-8:1 8-16:1 16-32:0 32-64:0 64-128:1 128-256:0 256-512:0 512-1024:1 ");
    equal("quantiles", fmt::format("{} {} {}", h.quantile(0), h.quantile(0.5), h.quantile(1)), "0 5 1000");
    equal("drawn", draw({{1, 2, 1}, {2, 4, 0}, {4, 8, 100}}, [](uint64_t n) { return fmt::format("{}", n); }),
          "         1 ...        2          1 #\n         2 ...        4          0\n"
          "         4 ...        8        100 " + std::string(50, '#'));
    equal("times", fmt::format("{} {} {} {} {}", format_ns(0), format_ns(999), format_ns(1000),
                               format_ns(41234), format_ns(123456789)), "0ns 999ns 1.00us 41.2us 123ms");
    equal("longer times", fmt::format("{} {}", format_ns(999900), format_ns(2500000000)), "1.00ms 2.50s");
}

// Whether the line is in the text.
bool has_line(const std::string &text, const std::string &line)
{
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

void test_buckets()
{
    histogram rtt, lost, none;
    rtt.add(noted({1023, 1024, 5000, 5000, 2'000'000'000}));
    lost.add(noted({100'000}));
    const std::string text = buckets({none, rtt, none}, {lost, lost});
    check("below 1.024 us", has_line(text, "mrc_rtt_seconds_bucket{plane=\"1\",le=\"1.024e-06\"} 1"));
    check("each bucket has those before it", has_line(text, "mrc_rtt_seconds_bucket{plane=\"1\",le=\"8.192e-06\"} 4"));
    check("a second and more", has_line(text, "mrc_rtt_seconds_bucket{plane=\"1\",le=\"1.073741824\"} 4"));
    check("all", has_line(text, "mrc_rtt_seconds_bucket{plane=\"1\",le=\"+Inf\"} 5") && has_line(text, "mrc_rtt_seconds_count{plane=\"1\"} 5"));
    check("their sum", has_line(text, "mrc_rtt_seconds_sum{plane=\"1\"} 2.000012047"));
    check("no row of a plane without samples", text.find("plane=\"2\"") == std::string::npos);
    check("causes are added up", has_line(text, "mrc_recovery_seconds_count 2") && has_line(text, "mrc_recovery_seconds_bucket{le=\"0.000131072\"} 2"));
    const std::string most = buckets(std::vector<histogram>(33, rtt), {lost});
    check("33 planes: series are bounded", health::series_in(most) <= buckets_series_max);
    check("planes beyond the eighth", has_line(most, "mrc_rtt_seconds_count{plane=\"more\"} 120"));
    check("nothing at all", has_line(buckets({}, {}), "mrc_recovery_seconds_count 0"));
}

void test_layout()
{
    std::string format = "name: mrc_rtt\nformat:\n"
                         "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
                         "\tfield:u32 qpn;\toffset:8;\tsize:4;\tsigned:0;\n"
                         "\tfield:u32 rtt_ns;\toffset:12;\tsize:4;\tsigned:0;\n"
                         "\tfield:u8 plane;\toffset:16;\tsize:1;\tsigned:0;\n";
    equal("the layout that is known", layout_differs("mrc_rtt", format), "");
    std::string moved = format, gone = format;
    moved.replace(moved.find("offset:12"), 9, "offset:20");
    gone.replace(gone.find("rtt_ns"), 6, "rtt_us");
    equal("a field that moved", layout_differs("mrc_rtt", moved),
          "mrc_rtt: rtt_ns is at 20 with 4 bytes, not at 12 with 4");
    equal("a field that is gone", layout_differs("mrc_rtt", gone), "mrc_rtt has no field rtt_ns");
}

} // namespace

int main()
{
    test_grammar();
    test_complete();
    test_values();
    test_messages();
    test_counters();
    test_histogram();
    test_buckets();
    test_layout();
    test_module();
    test_doctor();
    test_words();
    test_status();
    test_log();
    test_names();
    test_report();
    fmt::print("# end {}\n", count);
    return failed != 0;
}
