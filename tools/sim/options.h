// SPDX-License-Identifier: GPL-2.0
// options.h - everything that is drawn from the seed, by name.
//
// One list produces the struct, the printed table, and --set NAME=VALUE, which narrows a failing
// seed without changing the other draws.
#pragma once

#include "engine.h"

#include <string>

namespace sim {

// X(name, help). Times in ns, sizes in bytes, chances in parts per million.
#define SIM_OPTIONS(X)                                                                  \
    X(hosts, "hosts")                                                                   \
    X(per_t0, "hosts on a T0")                                                          \
    X(t1s, "T1s in a plane")                                                            \
    X(planes, "planes")                                                                 \
    X(evs, "EVs per plane, of each host towards each peer")                             \
    X(ev_active, "EVs that a queue pair sprays over; 0: default")                       \
    X(qps, "queue pairs, each between two hosts")                                       \
    X(mtu, "payload bytes per packet")                                                  \
    X(rate_mbps, "rate of a port, each way")                                            \
    X(down_pct, "rate of the switches' ports, percent of that")                         \
    X(delay_ns, "propagation, one way")                                                 \
    X(skew_ns, "largest additional fixed delay of an EV")                               \
    X(jitter_ns, "largest additional delay of a packet; no queue is why")               \
    X(queue_bytes, "queue limit of a switch's port; 0: none")                           \
    X(ecn_bytes, "queue from which packets are marked; 0: never")                       \
    X(ecn_last, "1: the last hop marks too")                                            \
    X(trim, "1: trim what overflows the queue")                                         \
    X(rx_delay_ns, "largest delay from arrival to softirq (batching)")                  \
    X(coalesce_ns, "an idle host's interrupt comes so long after the first packet")     \
    X(coalesce_host, "0: all hosts coalesce, 1: A, C, ... only, 2: B, D, ... only")     \
    X(tcp_flows, "flows as TCP's on the same ports, as long as there are faults")       \
    X(odd_planes, "mask of planes that differ from the others")                         \
    X(odd_vary, "1: each of them draws its own, up to the next six")                    \
    X(odd_delay_ns, "delay that they add, one way")                                     \
    X(odd_rate_pct, "rate of their ports, percent of the others'")                      \
    X(odd_queue_pct, "queue limit of their ports, percent of the others'")              \
    X(odd_loss_ppm, "packets that they lose")                                           \
    X(odd_loss_dir, "0: all packets, 1: from A, C, ... only, 2: from B, D, ... only")   \
    X(odd_trim, "1: they trim if the others do not, and the reverse")                   \
    X(link_delay_ns, "largest additional delay of a link, each way its own")            \
    X(link_rate_pct, "lowest rate of a switch's port, percent of what it would be")     \
    X(link_queue_pct, "lowest queue limit of a switch's port, likewise")                \
    X(link_loss_ppm, "largest loss of a link, each way its own")                        \
    X(link_notrim_ppm, "ports that drop where the others trim")                         \
    X(switch_bytes, "buffer that all ports of a switch share; 0: none")                 \
    X(fifo, "1: switches queue control packets with data, and drop them too")           \
    X(epoch_ns, "what the engine's clock shows at the start")                           \
    X(clock_off_ns, "largest difference between the hosts' clocks")                     \
    X(drift_ppm, "largest drift of a host's clock")                                     \
    X(slack_ns, "largest slack of every timer")                                         \
    X(rx_cost_ns, "CPU time for a packet received")                                     \
    X(tx_cost_ns, "CPU time for a packet sent")                                         \
    X(batch, "packets of a plane in one softirq run, and of a turn of sending; 0: all") \
    X(ring_pkts, "packets of a plane that may wait for the softirq; 0: any number")     \
    X(mpr, "window of A, units of 128 PSNs")                                            \
    X(mpr_b, "window of B")                                                             \
    X(sq_max, "messages in flight")                                                     \
    X(rd_max, "READs and ATOMICs in flight")                                            \
    X(rq_max, "receive messages in flight")                                             \
    X(wimm, "receive messages in flight agreed by both")                                \
    X(tails, "tail slots")                                                              \
    X(sack_pkts, "SACK at least every so many packets")                                 \
    X(cwnd_bytes, "fixed congestion window")                                            \
    X(nscc, "1: NSCC, one controller per peer")                                         \
    X(incast, "1: receivers ask senders to slow down")                                  \
    X(sleek, "1: loss by the peer's count of packets out of order")                     \
    X(burst, "packets of a connection in a row by one EV")                              \
    X(timestamps, "1: TSETH in data packets")                                           \
    X(svc_time, "1: service time is taken off the round trip")                          \
    X(trim_nack, "0: the responders do not answer trimmed packets")                     \
    X(dyn_mpr, "1: dynamic MPR")                                                        \
    X(strict, "1: placement in PSN order")                                              \
    X(small, "1: connections begin with little memory")                                 \
    X(grow_ns, "and get the rest so long after they want it")                           \
    X(damp_ns, "half-life of flap damping; 0: off")                                     \
    X(timeout_ns, "acknowledgement timeout")                                            \
    X(linear_cnt, "retries at the timeout")                                             \
    X(exp_cnt, "retries with doubling; 25: for ever")                                   \
    X(rnr_retry, "RNR retries; 7: for ever")                                            \
    X(min_rnr_timer, "IBTA code")                                                       \
    X(min_active, "floor of usable EVs; 0: default")                                    \
    X(readmit, "good probe answers that readmit an EV; 0: default")                     \
    X(probe_ns, "first EV probe interval")                                              \
    X(probe_max_ns, "cap of its doubling")                                              \
    X(oor_nack, "NACK PSNs beyond the window")                                          \
    X(mrc_only, "only WRITE and WRITE_IMM")                                             \
    X(psn_a, "first PSN of A")                                                          \
    X(psn_b, "first PSN of B")                                                          \
    X(msgs, "most messages per QP and direction")                                       \
    X(bytes, "most bytes per QP and direction")                                         \
    X(one_way, "1: only the first of a queue pair's hosts sends")                       \
    X(fan_in, "1: every queue pair ends at host A (incast)")                            \
    X(len_max, "longest message")                                                       \
    X(ops, "mask of enum mrc_op")                                                       \
    X(fence_ppm, "messages with a fence")                                               \
    X(post_burst, "most work requests posted at once")                                  \
    X(post_gap_ns, "largest gap between bursts")                                        \
    X(lone_msgs, "last messages of a QP and direction that come one by one")            \
    X(lone_gap_ns, "largest gap between them")                                          \
    X(recv_ahead, "receives posted ahead")                                              \
    X(recv_delay_ns, "largest delay until a receive is replaced")                       \
    X(fault_ns, "all faults end here")                                                  \
    X(loss_ppm, "packets lost")                                                         \
    X(loss_dir, "0: all packets, 1: from A, C, ... only, 2: from B, D, ... only")       \
    X(loss_ctrl, "0: all packets, 1: data only, 2: control only")                       \
    X(burst_ppm, "a burst of loss begins")                                              \
    X(burst_len, "longest burst, packets")                                              \
    X(dup_ppm, "packets duplicated")                                                    \
    X(corrupt_ppm, "packets dropped by their ICRC")                                     \
    X(trim_ppm, "packets trimmed at random")                                            \
    X(ecn_ppm, "packets marked at random")                                              \
    X(reorder_ppm, "packets held back")                                                 \
    X(reorder_ns, "longest time held back")                                             \
    X(dead_links, "host links that die")                                                \
    X(dead_cables, "cables between switches that die")                                  \
    X(reboots, "switches that reboot, in one plane each")                               \
    X(flaps, "times that one link flaps")                                               \
    X(dead_ns, "longest of these failures")                                             \
    X(dead_notify, "hosts see their dead links 0: never, 1: always, 2: drawn")          \
    X(dead_all, "1: all planes may be dead at once")                                    \
    X(notify_ns, "largest delay until a port's failure is seen")                        \
    X(flap_notify, "1: flaps are seen as late; drawn where one plane never fails")      \
    X(slow_ports, "ports at a fraction of their rate")                                  \
    X(holes, "black-holed EVs")                                                         \
    X(stalls, "times a receiver stops posting receives")                                \
    X(clogs, "times that a host's control packets are late")                            \
    X(stall_ns, "longest of both")                                                      \
    X(pauses, "times that a host does nothing at all")                                  \
    X(pause_ns, "longest of them, the shortest is 1 ms")                                \
    X(undo_ppm, "packets that could not be built")                                      \
    X(rx_drop_ppm, "packets that could not be placed")                                  \
    X(late_ppm, "timers that fire late")                                                \
    X(late_ns, "how late at most")                                                      \
    X(strangers, "mask of ends that run another implementation: 1: A's, 2: B's")         \
    X(peer_sack_pkts, "its SACK comes every so many packets; 0: when asked only")       \
    X(peer_bitmap, "its bitmaps begin 0: behind cack, 1: near the trigger, 2: are empty") \
    X(peer_echo, "1: it reflects stamps")                                               \
    X(peer_counts, "1: it tells bytes received")                                        \
    X(peer_answers, "0: it answers no probes, as long as there are faults")             \
    X(peer_ack_every, "it ACKs every so many messages, and the last one later")         \
    X(peer_refuse_ppm, "packets that it has no buffer for, as long as there are faults") \
    X(peer_window, "packets that it has in flight")                                     \
    X(peer_messages, "messages that it has in flight")                                  \
    X(peer_ask_every, "it asks by every so many packets; 0: by the last of a message")  \
    X(peer_stamps, "1: its data carries stamps")                                        \
    X(peer_probes, "1: it probes when nothing comes")                                   \
    X(peer_halves, "1: it halves its window for losses and marks")                      \
    X(peer_late_pkts, "lost: so many later ones of the plane have arrived")             \
    X(peer_timeout_ns, "its timeout")                                                   \
    X(peer_lies, "it lies as long as there are faults; sum of foreign/habits.h's")      \
    X(fatal, "1-5: a WR that must fail, see workload.h; 6: caller fails the QP")        \
    X(grace_ns, "not drawn; where hosts pause, so much longer may all take")            \
    X(economy, "not drawn; promises to be held, sum of economy.h's")                   \
    X(probe_burst, "not drawn; probes of a path set allowed at once")                   \
    X(heal_ns, "not drawn; time after which EVs must be usable again")                  \
    X(resend_burst, "not drawn; resends allowed where nothing is lost, beside a share")

struct options {
#define X(name, help) u64 name;
    SIM_OPTIONS(X)
#undef X

    static options draw(u64 seed);
    // "name=value". What is wrong with it, or empty.
    std::string set(const std::string &assignment);
    void print() const;
    static void list();
    // What is wrong with values given by hand, or empty.
    std::string check() const;
};

// Hosts and paths that are not alike (options_host.cc); the others must have been drawn.
void draw_hosts(options &o, u64 seed);

} // namespace sim
