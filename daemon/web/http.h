// SPDX-License-Identifier: GPL-2.0
// http.h - a read-only web server in the daemon's loop: GET and HEAD.
//
// A client costs bounded memory and time. The server has kHttpConnections places and closes further connections
// without an answer. It reads headers of up to kHttpHeader bytes, and no bodies. A request, or the sending of a
// response, may take kHttpPatience.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace mrcd {

inline constexpr std::size_t kHttpConnections = 16;
inline constexpr std::size_t kHttpHeader = 8192;
inline constexpr std::chrono::seconds kHttpPatience{10};

// Parses "127.0.0.1:9791" or "[::1]:9791". Throws std::invalid_argument with a text that says what
// would be right.
boost::asio::ip::tcp::endpoint parse_endpoint(const std::string &text);

struct HttpPage {
    std::string type;   // "": there is no such page
    std::string body;
    std::string policy;   // Content-Security-Policy; "": nothing may be loaded
};

class HttpServer {
public:
    using Page = std::function<HttpPage(std::string_view path)>;
    using Event = std::function<std::string()>;   // one line, for server-sent events

    // Clients of @event_path receive @event's text each second. Throws boost::system::system_error if the
    // server cannot listen at @at.
    HttpServer(boost::asio::io_context &io, const boost::asio::ip::tcp::endpoint &at, Page page,
               std::string event_path, Event event);
    ~HttpServer();
    boost::asio::ip::tcp::endpoint local() const;

private:
    class Session;
    struct Shared;
    std::shared_ptr<Shared> shared_;
};

}   // namespace mrcd
