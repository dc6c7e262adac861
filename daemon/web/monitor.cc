// SPDX-License-Identifier: GPL-2.0
// monitor.cc - see monitor.h.
#include "monitor.h"

#include <fmt/format.h>
#include <linux/mrc.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "../../tools/lib/health/judge.h"

// defined in page.S
extern "C" const char mrcd_page_begin[], mrcd_page_end[];

namespace mrcd {

namespace {

using nlohmann::json;

constexpr std::size_t kPeersShown = 64;
constexpr std::size_t kProblemsShown = 32;
constexpr std::string_view kNonce = "@NONCE@";

std::string nonce()
{
    std::random_device random;

    return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

// The page is one file that loads nothing. A nonce permits its own script and style only.
HttpPage html()
{
    const auto once = nonce();
    std::string body(mrcd_page_begin, mrcd_page_end);

    for (std::size_t at; (at = body.find(kNonce)) != std::string::npos;)
        body.replace(at, kNonce.size(), once);
    return {"text/html; charset=utf-8", std::move(body),
            fmt::format("default-src 'none'; connect-src 'self'; img-src data:; script-src 'nonce-{0}'; style-src 'nonce-{0}'; "
                        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'", once)};
}

json planes_of(const health::snapshot &s)
{
    auto list = json::array();

    for (const auto &d : s.devices)
        for (const auto &p : d.planes)
            list.push_back({{"dev", d.name}, {"plane", p.number}, {"port", p.port}, {"state", health::plane_state(p)},
                            {"up", p.up}, {"admin", p.admin}, {"mbps", p.speed_mbps}, {"tx", p.tx_bytes}, {"rx", p.rx_bytes}});
    return list;
}

// Sorted: peers with bad paths first, then by address.
json peers_of(const health::snapshot &s)
{
    std::vector<const health::peer_now *> order;
    auto list = json::array();

    for (const auto &p : s.peers)
        order.push_back(&p);
    const auto shown = std::min(order.size(), kPeersShown);
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(), [](auto *a, auto *b) {
        return std::tie(b->assumed_bad, a->dev, a->gid) < std::tie(a->assumed_bad, b->dev, b->gid);
    });
    order.resize(shown);
    for (const auto *p : order) {
        auto bad = json::object();
        for (const auto &[plane, n] : p->bad_of)
            bad[std::to_string(plane)] = n;
        list.push_back({{"dev", p->dev}, {"peer", p->gid}, {"evs", p->evs}, {"good", p->good}, {"bad", bad}});
    }
    return list;
}

}   // namespace

std::string onlooker_json(const std::string &node, const health::measurement &m,
                          const std::vector<std::string> &faults)
{
    json j = {{"node", node},
              {"ms", std::chrono::duration_cast<std::chrono::milliseconds>(m.at.time_since_epoch()).count()}};

    if (m.trouble) {
        j["verdict"] = "unknown";
        j["text"] = m.trouble.text;
        j["problems"] = j["planes"] = j["peers"] = json::array();
        return j.dump(-1, ' ', false, json::error_handler_t::replace);
    }
    const auto problems = health::problems_of(m.now);
    auto told = json::array();
    std::uint64_t qps = 0;
    for (std::size_t i = 0; i < std::min(problems.size(), kProblemsShown); i++)
        told.push_back({{"text", problems[i].text}, {"action", problems[i].action}});
    for (std::size_t i = 0; i < std::min(faults.size(), kProblemsShown); i++)
        told.push_back({{"text", faults[i]}, {"action", ""}});
    for (const auto &d : m.now.devices)
        qps += d.qps;
    j["verdict"] = problems.empty() && faults.empty() ? "well" : "problem";
    j["text"] = problems.empty() && !faults.empty() ? faults.front() : health::verdict_of(m.now, problems);
    j["problems"] = told;
    j["planes"] = planes_of(m.now);
    j["peers"] = peers_of(m.now);
    j["peers_all"] = m.now.peers.size();
    j["qps"] = qps;
    return j.dump(-1, ' ', false, json::error_handler_t::replace);
}

const health::measurement &Monitor::measured()
{
    if (std::chrono::steady_clock::now() < until_)
        return last_;
    mrcnl::genl_socket nl;   // opened each time: a reloaded module has another family number
    const auto opened = nl.open(MRC_GENL_NAME);
    last_ = health::measure(nl, opened);
    until_ = std::chrono::steady_clock::now() + kMeasureEach;
    return last_;
}

HttpPage Monitor::page(std::string_view path)
{
    if (path == "/")
        return html();
    if (path == "/metrics") {
        auto text = health::exposition(measured(), MRC_VERSION, state_());
        if (probes_)
            text += probes_(health::series_max - std::min(health::series_max, health::series_in(text))).metrics;
        return {"text/plain; version=0.0.4; charset=utf-8", text, ""};
    }
    return {};
}

std::string Monitor::event()
{
    return "data: " + onlooker_json(node_, measured(), probes_ ? probes_(0).faults : std::vector<std::string>()) + "\n\n";
}

}   // namespace mrcd
