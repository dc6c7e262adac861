// SPDX-License-Identifier: GPL-2.0
// words.cc - see words.h.
#include "words.h"

#include <iterator>

#include "../lib/words/log_words.h"
#include "../lib/words/counters.h"

namespace mrcctl {

namespace {

struct advice {
    const char *name, *why, *action;
};

// Why a counter grows, and the remedy. A counter that is not listed needs no action.
const advice kAdvice[] = {
    {"rtx_rack", "a path loses packets, or delays some of them by more than usual",
     "mrcctl recovery seconds 10; then mrcctl ev show state assumed-bad names the paths"},
    {"rtx_nack", "the receiver had no room: see rx_no_slot and rx_no_bitmap there", "compare mpr of both ends: mrcctl dev show"},
    {"rtx_trim", "switches cut payloads off because their queues are full",
     "normal under load; if it is more than 1 % of tx_pkts, look for an incast or a slow link"},
    {"rtx_rto", "nothing was acknowledged for a whole timeout: all paths failed at once, or the peer paused",
     "mrcctl peer show; mrcctl probe ADDRESS"},
    {"rtx_plane", "a port went down while packets were in flight on it", "mrcctl plane show; ip -s link show"},
    {"rtx_rnr", "the peer's program posts receives too late", "post more receives there, or use a larger SRQ"},
    {"rtx_sleek", "the peer counted more packets out of order than can be reordering", "see rtx_rack"},
    {"rtx_spurious", "a packet was late, not lost",
     "a few are normal; many mean that a path's delay jumps: mrcctl latency seconds 10"},
    {"timeouts", "like rtx_rto; each timeout is a pause of the QP", "see rtx_rto"},
    {"probes_sent", "acknowledgements stopped, or planes are verified while only acknowledgements flow", ""},
    {"rx_dup", "the peer retransmitted a packet that had arrived: the acknowledgement was lost or late",
     "if it grows, the path back to the peer loses packets: see rtx_spurious there"},
    {"rx_ooo", "packets took paths of different length", "normal where packets are sprayed"},
    {"rx_oor", "the peer sends beyond the window, or a packet came very late",
     "compare mpr and dyn-mpr of both ends: mrcctl dev show"},
    {"rx_ecn", "switches mark packets because queues grow", "normal under load"},
    {"rx_trimmed", "switches on the path to this host cut payloads off", "see rtx_trim of the peer"},
    {"rx_rnr", "the program here posts receives too late", "post more receives, or use a larger SRQ"},
    {"rx_no_slot", "the peer has more messages or READs in flight than was agreed",
     "raise max_dest_rd_atomic here, or lower max_rd_atomic there"},
    {"rx_bad_resp", "the peer answered a request that was not sent: its implementation has a fault, or the packet is forged", "capture the packets and judge them with mrc-conform"},
    {"rx_bad_ack", "the peer acknowledged a packet that was not sent: its implementation has a fault, or the packet is forged", "capture the packets and judge them with mrc-conform"},
    {"rx_not_ready", "packets came before the QP was in RTR, or after it was in error", "a few at the start or end of a connection are normal"},
    {"rx_place_failed", "the memory of a region could not be reached", "dmesg; see limits.md"},
    {"naks_access", "a peer's WRITE, READ or ATOMIC had a wrong R_Key, address or right", "compare the keys that the two programs exchange"},
    {"naks_invalid", "a peer sent a message that the QP refuses: wrong length or opcode, or more messages than receives",
     "compare the message sizes of the two programs"},
    {"rx_no_bitmap", "the peer sends beyond the window that this host tracks", "compare mpr of both ends: mrcctl dev show"},
    {"rx_trim_dropped", "switches trim, but this connection was set up without trim NACKs",
     "mrcctl dev set DEV trim-nack on, at both ends"},
    {"pens_sent", "many senders at once and trimmed packets: this host asked them to slow down", "normal in an incast"},
    {"no_path", "every EV to the peer was bad, denied, or on a plane that is down", "mrcctl plane show; mrcctl ev show peer ADDRESS"},
    {"rx_malformed", "packets that are not MRC arrived at MRC's UDP port", "capture it: tcpdump -i PORT udp port 4791"},
    {"rx_bad_icrc", "packets are damaged on the path, or the peer sends no ICRC (icrc off there, on here)",
     "set icrc alike at both ends; otherwise look for CRC errors of ports: ethtool -S PORT"},
    {"rx_unknown_qp", "the peer still sends to a QP that is gone", "a few when a connection ends are normal"},
    {"rx_wrong_source", "a packet for a QP came from an address that is not its peer's: it is forged, or an address moved", "capture it: tcpdump -i PORT udp port 4791"},
    {"rx_down", "the device is down", "ip link set DEV up"},
    {"rx_no_plane", "a packet arrived by an interface that is not a plane of the device", "mrcctl plane show; a cable or a VLAN is in the wrong place"},
    {"rx_other_port", "the peer sends to a UDP port that is not listened on", "set udp-port alike at both ends"},
    {"hops_exceeded", "a packet reached its hop limit before the peer", "mrcctl dev set DEV hop-limit 64; if a path loops: mrcctl fabric check FILE"},
    {"port_unreach", "the peer has no MRC module, or a firewall refuses the packets", "modprobe mrc there; open UDP port 4791"},
    {"never_answered", "the peer never acknowledged anything: settings differ, a firewall drops packets, or the timeout is below the round trip",
     "mrcctl peer show (hints); mrcctl probe ADDRESS"},
    {"rx_bad_sid", "an SRv6 packet arrived for the locator of another host: a route of a switch is wrong", "mrcctl fabric check FILE; mrcctl plane show"},
    {"rx_bad_pkey", "the peer uses another P_Key than ffff", "set the default P_Key there"},
    {"rx_dgram_no_recv", "the program here posts receives for datagrams too late", "post more receives"},
    {"rx_dgram_qkey", "the sender uses another Q_Key than the QP", "compare the Q_Keys of the two programs"},
    {"rx_dgram_too_long", "a receive was shorter than the datagram plus 40 bytes of header", "post longer receives"},
    {"tx_dgram_dropped", "no plane is up, or there is no route to the peer", "mrcctl plane show; ip route get ADDRESS"},
    {"plain_refused", "the peer has a plain RoCEv2 device (rdma_rxe, a NIC) at that address", "load mrc there, or use its MRC address"},
    {"link_local_refused", "the program used a link-local GID, which is on no plane", "use the GID of the device's address: ibv_devinfo -v"},
    {"claims_refused", "a program named a QP of the peer to which another user's QP is connected",
     "security.md: which connections a user may make"},
    {"tx_policy", "an IPsec policy blocks packets to this peer, or there is no key", "ip xfrm policy; ip xfrm state"},
    {"rx_policy", "packets arrived in clear, but an IPsec policy requires protection", "ip xfrm policy, at both ends"},
    {"tx_not_ours", "a program sends UDP to MRC's port itself", "find it: ss -uap"},
    {"tx_no_route", "there is no route to the peer on a plane", "ip route get ADDRESS oif PORT"},
    {"tx_down", "the device is down", "ip link set DEV up"},
    {"tx_no_mem", "the host is short of memory", "free -m; dmesg"},
    {"tx_errors", "the port below refuses packets", "ip -s link show PORT; tc -s qdisc show dev PORT"},
    {"tx_too_long", "a plane's MTU is too small for the QP's path MTU", "ip link set PORT mtu 9000, on all planes and switches"},
    {"tx_ip_dropped", "no plane is up, or an IP packet is longer than the MTU", "mrcctl plane show"},
    {"grow_no_mem", "the host is short of memory; the QP continues with its window", "free -m"},
    {"paths_no_mem", "the host is short of memory; the peer keeps its paths", "free -m"},
    {"tails_dropped", "a region was deregistered while a WRITE to it was under way", "an error of the program: deregister after the peer's WRITEs"},
    {"hold_full", "strict placement has reached its memory limit", "mrcctl dev set DEV strict off, if programs allow it"},
    {"planes_held", "the link of a port goes down and up again and again", "look at its cable and optic; mrcctl dev set DEV damp 0 turns damping off"},
    {"cq_overruns", "a program polls its completion queue too late", "make the queue larger, or poll more often"},
    {"port_updates_refused", "a Port Status Update arrived by a plane that does not lead to the peer: a wrong cable, or it is forged", "mrcctl fabric check FILE"},
    {"port_updates_denied", "somebody forges Port Status Updates of a peer, or a port came back within a round trip", "filter source addresses at the switch ports of hosts"},
    {"self_probes_refused", "a link delivers packets twice or very late, or somebody forges them", "mrcctl -d selfprobe show"},
    {"self_probe_stalls", "this host was too busy to judge its paths", "mrcctl -d selfprobe show; top; mpstat -P ALL 1"},
    {"ep_answers_lost", "the controller exited before the response arrived", ""},
    {"ep_unasked", "responses that match no request: late ones, or forged", ""},
    {"ep_withheld", "a peer checks whether a port is down that this host drains", ""},
};

const word kWords[] = {
    {"hint", "icrc", "16 packets in a row from this peer had a wrong ICRC, or none",
     "icrc is on here and off there, or a port damages packets", "set icrc alike at both ends"},
    {"hint", "udp-port", "the peer sends to a UDP port that is not listened on here", "udp-port differs", "set udp-port alike at both ends"},
    {"hint", "hop-limit", "a switch reported that a packet to this peer reached its hop limit", "the limit is too low, or a path is a loop",
     "mrcctl dev set DEV hop-limit 64; mrcctl fabric check FILE"},
    {"hint", "no-answer", "a QP gave up; the peer never acknowledged anything", "a firewall, settings that differ, or a timeout below the round trip",
     "mrcctl probe ADDRESS"},
    {"hint", "plain", "the peer's connection manager speaks plain RoCEv2, not MRC", "it has another RDMA device at that address", "load mrc there"},
    {"hint", "nobody", "nobody listens at the peer's UDP port, or its connection manager does not answer",
     "no module is loaded there, it speaks iWARP, or a firewall refuses the packets", "modprobe mrc there; open UDP port 4791"},
    {"hint", "policy", "an IPsec policy blocks packets to this peer or from it", "only one end has the policy, or there is no key",
     "ip xfrm policy; ip xfrm state"},
    {"EV state", "good", "packets leave by this path", "", ""},
    {"EV state", "skip", "the sender passes over this path a few times", "a switch marked or trimmed a packet on it: congestion", "none: it ends by itself"},
    {"EV state", "assumed-bad", "no data leaves by this path; it is probed until it answers", "it lost packets that no switch trimmed",
     "mrcctl probe ADDRESS draws which paths are silent"},
    {"EV state", "denied", "no packet leaves by this path", "a controller or an administrator denied it", "mrcctl ev set ... state good"},
    {"plane", "admin", "whether the plane may be used", "mrcctl plane set ... admin off", "mrcctl plane set ... admin on"},
    {"plane", "carrier", "whether the port has a link", "no cable, or the other end is off", "ip link show PORT; ethtool PORT"},
    {"plane", "up", "whether packets leave by the plane: admin is on, the link is up, the MTU suffices, and it is not held", "", "mrcctl plane show: which of these is off"},
    {"plane", "held", "the link is up again, but the plane is not used yet", "the link went down too often (damp)", "look at its cable; the plane is used again by itself"},
    {"plane", "small", "the plane's MTU is too small for MRC", "", "ip link set PORT mtu 9000"},
    {"event", "dev-add", "a device was made", "", ""},
    {"event", "dev-del", "a device was removed", "", ""},
    {"event", "dev-set", "a setting of a device changed", "", ""},
    {"event", "plane", "a plane came, went, or changed its state", "", "mrcctl plane show"},
    {"event", "peer-ports", "a peer announced which of its ports are up", "", "mrcctl peer show"},
    {"event", "ev", "EV states of a path set changed; says how many are in each", "", "mrcctl ev show peer ADDRESS"},
};

} // namespace

std::vector<word> all_words()
{
    std::vector<word> all(std::begin(kWords), std::end(kWords));
    for (auto &w : words::log_kinds)
        all.push_back({"event", w.name, w.meaning, w.why, w.action});
    for (auto &w : words::log_causes)
        if (!w.meaning.empty())
            all.push_back({"cause", w.name, w.meaning, w.why, w.action});
    for (auto &c : words::counters()) {
        word w{c.of_qp ? "counter of QPs" : "counter of devices", c.name, c.meaning, "", ""};
        for (auto &a : kAdvice)
            if (w.name == a.name)
                w.why = a.why, w.action = a.action;
        all.push_back(w);
    }
    return all;
}

std::vector<std::string_view> stray_advice()
{
    std::vector<std::string_view> stray;
    for (auto &a : kAdvice) {
        bool found = false;
        for (auto &c : words::counters())
            found |= std::string_view(c.name) == a.name;
        if (!found)
            stray.push_back(a.name);
    }
    return stray;
}

} // namespace mrcctl
