// SPDX-License-Identifier: GPL-2.0
// screen.cc - see screen.h.
#include "screen.h"

#include <algorithm>

#include <fmt/format.h>

namespace mrcctl {

namespace {

constexpr const char *red = "\033[31m", *green = "\033[32m", *bold = "\033[1m", *reset = "\033[0m";

std::string in(const char *colour, const std::string &text, const screen_options &opt)
{
    return opt.colour ? colour + text + reset : text;
}

std::string speed_text(uint32_t mbps)
{
    return mbps == 0 ? "-" : mbps % 1000 ? fmt::format("{} Mb/s", mbps) : fmt::format("{} Gb/s", mbps / 1000);
}

std::string draw_device(const snapshot &before, const snapshot &now, const device_now &dev, const screen_options &opt)
{
    std::string s = fmt::format("\n{}  {} QPs\n", in(bold, dev.name, opt), dev.qps);
    std::vector<double> sent, received;
    double all = 0;
    for (auto &p : dev.planes) {
        sent.push_back(plane_rate(before, now, dev.name, p, &plane_now::tx_bytes));
        received.push_back(plane_rate(before, now, dev.name, p, &plane_now::rx_bytes));
        all += sent.back();
    }
    s += fmt::format("  {:<6} {:<12} {:<11} {:>9} {:>11} {:>11} {:>6}\n", "plane", "port", "state", "speed", "sent",
                     "received", "share");
    for (size_t i = 0; i < dev.planes.size(); i++) {
        auto &p = dev.planes[i];
        // Padded before colours are added.
        auto state = fmt::format("{:<11}", plane_state(p));
        s += fmt::format("  {:<6} {:<12} {} {:>9} {:>11} {:>11} {:>6}\n", p.number, p.port.empty() ? "-" : p.port,
                         p.up ? in(green, state, opt) : p.admin ? in(red, state, opt) : state, speed_text(p.speed_mbps),
                         rate_text(sent[i]), rate_text(received[i]),
                         all > 0 ? fmt::format("{:.0f} %", 100 * sent[i] / all) : "-");
    }
    return s;
}

void sort_peers(std::vector<const peer_now *> &peers, peer_order order)
{
    auto key = [&](const peer_now *p) {
        return order == peer_order::problems ? p->hints.size() * 1000000 + p->assumed_bad :
               order == peer_order::qps      ? p->qps : 0;
    };
    std::stable_sort(peers.begin(), peers.end(), [&](auto *a, auto *b) { return key(a) > key(b); });
}

std::string draw_peers(const snapshot &now, const screen_options &opt)
{
    std::vector<const peer_now *> peers;
    for (auto &p : now.peers)
        peers.push_back(&p);
    std::sort(peers.begin(), peers.end(), [](auto *a, auto *b) { return a->gid < b->gid; });
    sort_peers(peers, opt.order);
    if (peers.empty())
        return "\npeers: none\n";
    std::string s = fmt::format("\n{}\n  {:<8} {:<39} {:>6} {:>6} {:>6} {:>6} {:>6}  {}\n",
                                in(bold, fmt::format("{} {}", peers.size(), peers.size() == 1 ? "peer" : "peers"), opt),
                                "dev", "address", "QPs", "paths", "good", "silent", "denied", "hints");
    for (size_t i = 0; i < peers.size() && i < opt.peers; i++) {
        auto &p = *peers[i];
        auto silent = fmt::format("{:>6}", p.assumed_bad);
        s += fmt::format("  {:<8} {:<39} {:>6} {:>6} {:>6} {} {:>6}  {}\n", p.dev, address_text(p.gid), p.qps, p.evs, p.good,
                         p.assumed_bad ? in(red, silent, opt) : silent, p.denied,
                         p.hints.empty() ? "-" : fmt::format("{}", fmt::join(p.hints, " ")));
    }
    if (peers.size() > opt.peers)
        s += fmt::format("  and {} more: mrcctl peer show\n", peers.size() - opt.peers);
    return s;
}

} // namespace

std::string rate_text(double bytes_per_second)
{
    static constexpr const char *units[] = {"b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s"};
    double bits = 8 * bytes_per_second;
    size_t unit = 0;
    if (bits < 0.5)
        return "0";
    for (; bits >= 999.5 && unit + 1 < std::size(units); unit++)
        bits /= 1000;
    return fmt::format("{:.{}f} {}", bits, bits >= 99.95 || unit == 0 ? 0 : bits >= 9.995 ? 1 : 2, units[unit]);
}

std::string address_text(const std::string &address)
{
    constexpr std::string_view mapped = "::ffff:";
    return address.starts_with(mapped) && address.find('.') != std::string::npos ? address.substr(mapped.size()) : address;
}

double plane_rate(const snapshot &before, const snapshot &now, const std::string &dev, const plane_now &plane,
                  uint64_t plane_now::*counter)
{
    double seconds = std::chrono::duration<double>(now.at - before.at).count();
    for (auto &d : before.devices)
        for (auto &p : d.planes)
            if (d.name == dev && p.number == plane.number && seconds > 0 && plane.*counter >= p.*counter)
                return static_cast<double>(plane.*counter - p.*counter) / seconds;
    return 0;
}

std::string draw_screen(const snapshot &before, const snapshot &now, const std::vector<problem> &problems,
                        const screen_options &opt)
{
    constexpr size_t problems_max = 8;
    std::string s = in(problems.empty() ? green : red, verdict_of(now, problems), opt) + "\n";
    for (size_t i = 0; i < problems.size() && i < problems_max; i++)
        s += fmt::format("  {} {}\n      {}\n", problems[i].dev, problems[i].text, problems[i].action);
    if (problems.size() > problems_max)
        s += fmt::format("  and {} more: mrcctl -j status\n", problems.size() - problems_max);
    for (auto &dev : now.devices)
        s += draw_device(before, now, dev, opt);
    return s + draw_peers(now, opt);
}

} // namespace mrcctl
