// SPDX-License-Identifier: GPL-2.0
// test_web.cc - what mrcd shows to onlookers: metrics, the page's events, and a server among strangers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <set>
#include <thread>

#include "../../tools/lib/words/counters.h"
#include "web/monitor.h"

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;

health::measurement host(unsigned planes)
{
    health::measurement m;
    health::device_now dev{.name = "mrc0", .registered = true, .qps = 3, .planes = {}};

    for (unsigned n = 1; n <= planes; n++)
        dev.planes.push_back({.number = n, .port = fmt::format("eth{}", n), .admin = true, .carrier = true, .up = n != 2,
                              .held = false, .small = false, .mtu = 9000, .speed_mbps = 100000, .tx_bytes = 10 * n, .rx_bytes = n});
    m.at = std::chrono::system_clock::time_point(1500ms);
    m.module_version = "0.1.0";
    m.now.devices.push_back(dev);
    m.now.peers.push_back({.dev = "mrc0", .gid = "fd00::2", .address = {}, .evs = 8, .good = 6, .skip = 0, .assumed_bad = 2,
                           .denied = 0, .qps = 3, .hints = {"icrc"}, .bad_of = {{1, 2}}});
    for (auto &c : words::counters())
        m.counters[c.name] = 7;
    return m;
}

health::daemon_state daemon_state()
{
    return {.ready = true, .open = 0, .config_hash = 4007170358, .looked = std::chrono::system_clock::time_point(1s),
            .looks_each = 30s};
}

std::vector<std::string> lines_of(const std::string &text)
{
    std::istringstream in(text);
    std::vector<std::string> lines;

    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

bool has_line(const std::string &text, const std::string &line)
{
    const auto lines = lines_of(text);
    return std::count(lines.begin(), lines.end(), line) == 1;
}

TEST(web, metrics_are_series_with_help_and_type)
{
    const auto text = health::exposition(host(4), "0.1.0", daemon_state());
    const std::regex sample(R"re([a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [-+.0-9e]+)re");
    std::set<std::string> families, series;

    for (const auto &line : lines_of(text)) {
        if (line.starts_with("# TYPE ")) {
            EXPECT_TRUE(families.insert(line.substr(7, line.find(' ', 7) - 7)).second) << line;
        } else if (!line.starts_with("# HELP ")) {
            EXPECT_TRUE(std::regex_match(line, sample)) << line;
            EXPECT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second) << line;
            EXPECT_TRUE(families.contains(line.substr(0, line.find_first_of("{ ")))) << line;
        }
    }
    EXPECT_TRUE(has_line(text, R"(mrc_plane_transmit_bytes_total{device="mrc0",plane="3",port="eth3"} 30)"));
    EXPECT_TRUE(has_line(text, R"(mrc_plane_up{device="mrc0",plane="2",port="eth2"} 0)"));
    EXPECT_TRUE(has_line(text, R"(mrc_paths{state="assumed-bad"} 2)"));
    EXPECT_TRUE(has_line(text, R"(mrc_retransmits_total{cause="trim"} 7)"));
    EXPECT_TRUE(has_line(text, "mrc_rx_bad_icrc_total 7"));
    EXPECT_TRUE(has_line(text, "mrc_rtx_spurious_total 7"));
    EXPECT_TRUE(has_line(text, R"(mrc_peer_hints{hint="icrc"} 1)"));
    EXPECT_TRUE(has_line(text, "mrcd_config_hash 4007170358"));
    EXPECT_TRUE(has_line(text, R"(mrc_check_last_run_timestamp_seconds{check="reconcile"} 1)"));
    // For promtool and for those who look up names: host/metrics.sh.
    if (const char *file = std::getenv("MRC_EXPOSITION"))
        std::ofstream(file) << text;
}

TEST(web, a_host_has_at_most_300_series)
{
    auto m = host(32);
    auto second = m.now.devices.front();

    second.name = "mrc1";
    m.now.devices.push_back(second);
    const auto text = health::exposition(m, "0.1.0", daemon_state());
    const auto lines = lines_of(text);
    EXPECT_LE(std::count_if(lines.begin(), lines.end(), [](auto &l) { return !l.starts_with('#'); }),
              std::ptrdiff_t{health::series_max});
    EXPECT_TRUE(has_line(text, "mrc_planes_not_shown 32"));
}

TEST(web, names_are_no_syntax)
{
    auto m = host(2);
    const std::string evil = "a\"} 1\n<script>\\";

    m.now.devices[0].planes[0].port = evil;
    EXPECT_NE(health::exposition(m, "0.1.0").find(R"(port="a\"} 1\n<script>\\"})"), std::string::npos);
    const auto j = nlohmann::json::parse(mrcd::onlooker_json("n\xff", m));   // no UTF-8
    EXPECT_EQ(j["planes"][0]["port"], evil);
}

TEST(web, what_could_not_be_asked_is_unknown_and_not_well)
{
    health::measurement m;

    m.trouble = mrcnl::error{ENOENT, "no module", false};
    EXPECT_EQ(nlohmann::json::parse(mrcd::onlooker_json("h1", m))["verdict"], "unknown");
    const auto text = health::exposition(m, "0.1.0");
    EXPECT_TRUE(has_line(text, "mrc_measured 0"));
    EXPECT_EQ(text.find("mrc_plane_up"), std::string::npos);
}

TEST(web, the_page_hears_planes_peers_and_problems)
{
    const auto j = nlohmann::json::parse(mrcd::onlooker_json("h1", host(4)));

    EXPECT_EQ(j["verdict"], "problem");
    EXPECT_EQ(j["planes"].size(), 4u);
    EXPECT_EQ(j["planes"][1]["state"], "down");
    EXPECT_EQ(j["peers"][0]["bad"]["1"], 2);
    EXPECT_EQ(j["qps"], 3);
    EXPECT_EQ(j["ms"], 1500);
}

TEST(web, the_page_hears_verdicts_of_probes)
{
    const auto j = nlohmann::json::parse(mrcd::onlooker_json("h1", host(1), {"plane 1: cable h1 to p1-t0-1 drops all packets"}));

    EXPECT_EQ(j["verdict"], "problem");
    EXPECT_EQ(j["problems"].back()["text"], "plane 1: cable h1 to p1-t0-1 drops all packets");
}

TEST(web, peers_with_silent_paths_come_first_and_not_all)
{
    auto m = host(1);

    for (int n = 0; n < 200; n++)
        m.now.peers.push_back({.dev = "mrc0", .gid = fmt::format("fd00::{:x}", 0x100 + n), .address = {}, .evs = 8, .good = 8,
                               .skip = 0, .assumed_bad = n == 150 ? 5u : 0u, .denied = 0, .qps = 0, .hints = {}, .bad_of = {}});
    const auto j = nlohmann::json::parse(mrcd::onlooker_json("h1", m));
    EXPECT_EQ(j["peers"].size(), 64u);
    EXPECT_EQ(j["peers_all"], 201);
    EXPECT_EQ(j["peers"][0]["peer"], "fd00::196");
    EXPECT_EQ(j["peers"][1]["peer"], "fd00::2");
}

TEST(web, where_to_listen)
{
    EXPECT_EQ(mrcd::parse_endpoint("127.0.0.1:9791"), tcp::endpoint(asio::ip::make_address("127.0.0.1"), 9791));
    EXPECT_EQ(mrcd::parse_endpoint("[::1]:80"), tcp::endpoint(asio::ip::make_address("::1"), 80));
    for (const char *bad : {"", ":", "9791", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:80x", "localhost:80",
                            "[::1]", "[::1", "[]:80", "::1:80x"})
        EXPECT_THROW(mrcd::parse_endpoint(bad), std::invalid_argument) << bad;
}

// A server in a loop of its own.
class Server : public ::testing::Test {
protected:
    Server()
    {
        server_.emplace(io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0),
                        [](std::string_view path) {
            return path == "/" ? mrcd::HttpPage{"text/plain", "hello", ""} : mrcd::HttpPage{};
        }, "/events", [] { return "data: now\n\n"; });
        at_ = server_->local();
        thread_ = std::thread([this] { io_.run(); });
    }

    ~Server() override
    {
        asio::post(io_, [this] { server_.reset(); });
        thread_.join();
    }

    tcp::socket connect()
    {
        tcp::socket s(clients_);
        s.connect(at_);
        return s;
    }

    // All that comes until the other end closes.
    static std::string rest(tcp::socket &s)
    {
        std::string text;
        boost::system::error_code ec;
        asio::read(s, asio::dynamic_buffer(text), ec);
        return text;
    }

    std::string ask(const std::string &text)
    {
        auto s = connect();
        boost::system::error_code ec;
        asio::write(s, asio::buffer(text), ec);
        s.shutdown(tcp::socket::shutdown_send, ec);
        return rest(s);
    }

    std::string get(const std::string &path, const std::string &host)
    {
        return ask(fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", path, host));
    }

    asio::io_context io_, clients_;
    std::optional<mrcd::HttpServer> server_;
    tcp::endpoint at_;
    std::thread thread_;
};

TEST_F(Server, answers)
{
    const auto all = get("/?now=1", "localhost:9791");

    EXPECT_TRUE(all.starts_with("HTTP/1.1 200 OK\r\n")) << all;
    EXPECT_TRUE(all.ends_with("\r\n\r\nhello"));
    EXPECT_NE(all.find("Content-Security-Policy: default-src 'none'"), std::string::npos);
    EXPECT_TRUE(ask("HEAD / HTTP/1.1\r\n\r\n").ends_with("\r\n\r\n"));
    EXPECT_TRUE(get("/nothing", "[::1]").starts_with("HTTP/1.1 404"));
    EXPECT_TRUE(ask("GET / HTTP/1.0\r\n\r\n").starts_with("HTTP/1.0 200"));
}

TEST_F(Server, two_requests_on_one_connection)
{
    const auto all = ask("GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n");

    EXPECT_NE(all.find("hello"), all.rfind("hello"));
}

TEST_F(Server, changes_nothing)
{
    for (const char *method : {"POST", "PUT", "DELETE", "OPTIONS", "NONSENSE"})
        EXPECT_FALSE(ask(fmt::format("{} / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", method)).starts_with("HTTP/1.1 2")) << method;
    EXPECT_TRUE(ask("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc").starts_with("HTTP/1.1 405"));
}

TEST_F(Server, a_body_is_no_second_request)
{
    const auto all = ask("GET / HTTP/1.1\r\nContent-Length: 24\r\n\r\nGET / HTTP/1.1\r\n\r\n      ");

    EXPECT_EQ(all.find("HTTP/1.1"), all.rfind("HTTP/1.1")) << all;
}

TEST_F(Server, other_sites_names_are_refused)
{
    for (const char *host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example:9791"})
        EXPECT_TRUE(get("/", host).starts_with("HTTP/1.1 421")) << host;
    for (const char *host : {"127.0.0.1:9791", "[::1]:9791", "localhost"})
        EXPECT_TRUE(get("/", host).starts_with("HTTP/1.1 200")) << host;
}

TEST_F(Server, survives_what_is_no_http)
{
    std::mt19937 random(7);

    EXPECT_EQ(ask(std::string(2 * mrcd::kHttpHeader, 'a')), "");
    EXPECT_EQ(ask("GET / HTTP/1.1\r\nX: " + std::string(2 * mrcd::kHttpHeader, 'a') + "\r\n\r\n"), "");
    for (int i = 0; i < 200; i++) {
        std::string text = "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
        for (int n = 0; n < 3; n++)
            text[random() % text.size()] = static_cast<char>(random());
        (void)ask(text.substr(0, random() % (text.size() + 1)));
    }
    EXPECT_TRUE(get("/", "localhost").ends_with("hello"));
}

TEST_F(Server, has_so_many_places_and_those_who_go_leave_theirs)
{
    std::vector<tcp::socket> all;
    char byte;

    for (std::size_t n = 0; n < mrcd::kHttpConnections; n++) {
        all.push_back(connect());
        asio::write(all.back(), asio::buffer(std::string("GET /events HTTP/1.1\r\n\r\n")));
        asio::read(all.back(), asio::buffer(&byte, 1));   // it is one of those who listen
    }
    auto more = connect();
    EXPECT_EQ(rest(more), "");
    all.clear();
    while (!get("/", "localhost").ends_with("hello"))
        std::this_thread::sleep_for(1ms);
}

TEST_F(Server, events_come_again)
{
    auto s = connect();
    std::string text;
    const std::string event = "data: now\n\n";

    asio::write(s, asio::buffer(std::string("GET /events HTTP/1.1\r\n\r\n")));
    while (text.find(event) == text.rfind(event)) {
        char part[256];
        text.append(part, s.read_some(asio::buffer(part)));
    }
    EXPECT_NE(text.find("Content-Type: text/event-stream"), std::string::npos);
}

}   // namespace
