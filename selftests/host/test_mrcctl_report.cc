// SPDX-License-Identifier: GPL-2.0
// test_mrcctl_report.cc - what a bug report must not tell is taken out of it, and the rest stays; archives are as tar has them.
#include <random>

#include "../../tools/mrcctl/child.h"
#include "../../tools/mrcctl/scrub.h"
#include "../../tools/mrcctl/tar.h"
#include "test_mrcctl.h"

using namespace mrcctl;

namespace {

std::optional<std::string> names(std::string_view word)
{
    if (word == "gpu7" || word == "gpu7.example.org")
        return "host-7";
    return {};
}

void goes(const char *text, const char *want) { ::equal(std::string("goes: ") + text, scrub(text, names), want); }
void stays(const char *text) { ::equal(std::string("stays: ") + text, scrub(text, names), text); }

void test_goes()
{
    goes("link/ether 52:54:00:4d:01:02 brd", "link/ether <mac> brd");
    goes("lladdr 52-54-00-4D-01-02.", "lladdr <mac>.");
    goes("at 5254.004d.0102", "at <mac>");
    goes("node_guid 5054:00ff:fe4d:0102", "node_guid <mac>");
    goes("\"fe80::5054:ff:fe4d:102\"", "\"<eui64>\"");
    goes("2001:db8::5054:ff:fe4d:102/64", "<eui64>/64");
    goes("{\"psn_next\":123456,\"state\":\"rts\"}", "{\"psn_next\":<removed>,\"state\":\"rts\"}");
    goes("\"psn_una\": 77,", "\"psn_una\": <removed>,");
    goes("psn-next 123 psn-una 4 inflight 5", "psn-next <removed> psn-una <removed> inflight 5");
    goes("rx-cack 5 peer-qpn 0x11", "rx-cack <removed> peer-qpn <removed>");
    goes("unexpected PSN 17 of gpu7:", "unexpected PSN <removed> of host-7:");
    goes("rkey 0x1234 lkey: 5", "rkey <removed> lkey: <removed>");
    goes("rkey=0x1234,lkey=9", "rkey=<removed>,lkey=<removed>");
    goes("rkey:0x1234 x", "rkey:<removed> x");
    goes("auth_key = \"a b%c\" # x", "auth_key = \"<removed>\" # x");
    goes("password: hunter2", "password: <removed>");
    goes("keys = [\"a b\", 'c'] x", "keys = [<removed>] x");
    goes("at 0xffff888012345678 now", "at <address> now");
    goes("RIP ffffffff81234567.", "RIP <hex>.");
    goes("key 000102030405060708090a0b0c0d0e0f", "key <removed>");
    goes("enc 000102030405060708090a0b0c0d0e0f1011", "enc <hex>");
    goes("host gpu7.example.org, gpu7:eth1 and gpu7.", "host host-7, host-7:eth1 and host-7.");
}

void test_stays()
{
    for (const char *text : {"", "\n", "fcbb:bb00:4001:8001:4002:c001::", "fd00:6d72:63::2/64", "10.77.0.1", "0x4001", "entropy 0x1234abcd",
                             "\"time\":1795953600123456789", "12:03:11.000251", "2026-11-29T12:00:00Z", "rtx_rack 12", "gpu70 gpu", "::",
                             "Key was rejected by service", "the key of DKMS", "via fe80::1 dev eth1", "via fe80::2", "mtu 9000", "valid",
                             "dev mrc0 plane 1 ifname eth1", "p1-t0-1:t1-2", "key", "psn", "psn ", "key\n7", "-", "...", "a:b:c"})
        stays(text);
}

// Whatever the bytes, it ends, and what was a secret number is gone.
void test_any()
{
    std::mt19937 random(7);
    static constexpr std::string_view bits[] = {"psn", " ", "\"", ":", "=", "\n", "7", "0x", "key", "[", "]", "ffff888012345678", "52:54:00:4d:01:02",
                                                "{", "}", ",", ".", "-", "fe80::5054:ff:fe4d:102", "\xff", "x"};
    bool gone = true, same = true;
    std::string why;
    for (int i = 0; i < 20000; i++) {
        std::string text;
        for (int n = 0; n < 12; n++)
            text += bits[random() % std::size(bits)];
        auto clean = scrub(text + " 52:54:00:4d:01:02 psn_next 987654321 ", names);
        if (clean.find(" 52:54:00:4d:01:02 psn") != std::string::npos || clean.find(" 987654321") != std::string::npos)
            why = text + " became " + clean;
        gone = gone && clean.find(" 52:54:00:4d:01:02 psn") == std::string::npos && clean.find(" 987654321") == std::string::npos;
        same = same && scrub(clean, names).size() <= clean.size() + 200;
    }
    check("any text: secrets behind it are gone", gone, why);
    check("any text: it can be done again", same);
    ::equal("a long one", std::to_string(scrub(std::string(1 << 20, 'a'), names).size()), "5");
}

void test_tar()
{
    tar t(1795953600);
    t.add("a.txt", "hello\n");
    t.add("empty", "");
    auto all = t.whole();
    ::equal("tar: blocks", std::to_string(all.size()), std::to_string(512 * 5));
    ::equal("tar: name and magic", all.substr(0, 5) + all.substr(257, 5), "a.txtustar");
    ::equal("tar: size", all.substr(124, 11), "00000000006");
    unsigned sum = 0;
    for (size_t i = 0; i < 512; i++)
        sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(all[i]);
    ::equal("tar: sum", all.substr(148, 6), fmt::format("{:06o}", sum));
    ::equal("tar: the text", all.substr(512, 6), "hello\n");
}

void test_child()
{
    auto r = run_child({"sh", "-c", "echo out; echo err >&2; exit 3"}, 100, 600);
    ::equal("child: both streams", r.out, "out\nerr\n");
    ::equal("child: status", std::to_string(r.status), "3");
    r = run_child({"printf", "y\\ny\\ny\\ny\\ny\\ny\\n"}, 10, 600);
    ::equal("child: bytes are limited", r.out, "y\ny\ny\ny\ny\n");
    check("child: and it is cut off", r.cut && r.status == 0);
    r = run_child({"sleep", "1000000"}, 10, 1);
    check("child: one that takes too long is ended", r.status == -1 && r.why == "took too long");
    r = run_child({"/no/such/program"}, 10, 600);
    check("child: none such", r.status == -1 && !r.why.empty());
}

} // namespace

void test_report()
{
    test_goes();
    test_stays();
    test_any();
    test_tar();
    test_child();
}
