// SPDX-License-Identifier: GPL-2.0
// http.cc - see http.h.
#include "http.h"

#include <fmt/format.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <optional>
#include <set>

namespace mrcd {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using Text = http::response<http::string_body>;

constexpr std::chrono::seconds kEventPeriod{1};
constexpr std::chrono::milliseconds kAcceptPause{100};   // after accept() failed, for example for lack of descriptors

// The host in "host", "host:port" or "[address]:port".
std::string_view host_only(std::string_view host)
{
    if (host.starts_with('['))
        return host.substr(1, host.find(']') - 1);
    return host.substr(0, host.find(':'));
}

bool is_address(std::string_view host)
{
    boost::system::error_code ec;

    asio::ip::make_address(std::string(host), ec);
    return !ec;
}

// Against DNS rebinding: a foreign site makes a browser on this host send requests here, under the
// site's name.
bool names_this_host(std::string_view host)
{
    host = host_only(host);
    return host.empty() || host == "localhost" || is_address(host);
}

Text plain(http::status status, std::string text)
{
    Text r(status, 11);

    r.set(http::field::content_type, "text/plain; charset=utf-8");
    r.body() = std::move(text);
    return r;
}

}   // namespace

tcp::endpoint parse_endpoint(const std::string &text)
{
    const bool brackets = text.starts_with('[');
    const auto colon = brackets ? text.find("]:") + 1 : text.find(':');   // npos + 1: none
    const auto number = colon == std::string::npos || (brackets && !colon) ? std::string_view() : std::string_view(text).substr(colon + 1);
    const auto host = host_only(text);
    unsigned short port = 0;
    boost::system::error_code ec;

    const auto address = asio::ip::make_address(std::string(host), ec);
    const auto [end, bad] = std::from_chars(number.data(), number.data() + number.size(), port);
    if (ec || bad != std::errc() || end != number.data() + number.size())
        throw std::invalid_argument(fmt::format("\"{}\" is not ADDRESS:PORT, as 127.0.0.1:9791 or [::1]:9791", text));
    return {address, port};
}

// Shared with the sessions, which outlive the server until the loop has closed them.
struct HttpServer::Shared : std::enable_shared_from_this<Shared> {
    Shared(asio::io_context &io, const tcp::endpoint &at, Page p, std::string path, Event e)
        : acceptor(io, at), pause(io), tick(io), page(std::move(p)), event_path(std::move(path)), event(std::move(e)),
          guarded(at.address().is_loopback())
    {
    }

    void accept();
    void each_tick();

    tcp::acceptor acceptor;
    asio::steady_timer pause, tick;
    Page page;
    std::string event_path;
    Event event;
    bool guarded;   // only clients of this host can connect
    bool ended = false, ticking = false;
    std::set<Session *> sessions, listeners;
};

class HttpServer::Session : public std::enable_shared_from_this<Session> {
public:
    Session(std::shared_ptr<Shared> server, tcp::socket &&socket)
        : server_(std::move(server)), stream_(std::move(socket)), buffer_(kHttpHeader)
    {
        server_->sessions.insert(this);
    }

    ~Session()
    {
        server_->sessions.erase(this);
        server_->listeners.erase(this);
    }

    void read()
    {
        parser_.emplace();
        parser_->header_limit(kHttpHeader);
        stream_.expires_after(kHttpPatience);
        http::async_read_header(stream_, buffer_, *parser_, [self = shared_from_this()](beast::error_code ec, std::size_t) {
            if (!ec)
                self->answer();
        });
    }

    // A client that has not read the last event misses this one.
    void send(std::shared_ptr<const std::string> text)
    {
        if (sending_)
            return;
        sending_ = true;
        stream_.expires_after(kHttpPatience);
        asio::async_write(stream_, asio::buffer(*text),
                          [self = shared_from_this(), text](beast::error_code ec, std::size_t) {
            self->sending_ = false;
            if (ec)
                self->close();
        });
    }

    void close()
    {
        beast::error_code ignored;

        server_->listeners.erase(this);
        stream_.socket().close(ignored);
        stream_.cancel();
    }

private:
    void answer()
    {
        const auto &request = parser_->get();
        const auto path = std::string_view(request.target()).substr(0, request.target().find('?'));
        const bool get = request.method() == http::verb::get, head = request.method() == http::verb::head;

        if (!get && !head) {
            auto r = plain(http::status::method_not_allowed, "only GET and HEAD: nothing can be changed here\n");
            r.set(http::field::allow, "GET, HEAD");
            return write(std::move(r));
        }
        if (server_->guarded && !names_this_host(request[http::field::host]))
            return write(plain(http::status::misdirected_request, "use an address, or the name localhost\n"));
        if (get && path == server_->event_path)
            return listen();
        auto page = server_->page(path);
        if (page.type.empty())
            return write(plain(http::status::not_found, "no such page\n"));
        Text r(http::status::ok, 11);
        r.set(http::field::content_type, page.type);
        r.set("Content-Security-Policy", page.policy.empty() ? "default-src 'none'" : page.policy);
        r.body() = std::move(page.body);
        write(std::move(r));
    }

    void common(http::fields &fields) const
    {
        fields.set(http::field::cache_control, "no-store");
        fields.set("X-Content-Type-Options", "nosniff");
        fields.set("Referrer-Policy", "no-referrer");
    }

    void write(Text &&text)
    {
        const bool head = parser_->get().method() == http::verb::head;

        response_ = std::move(text);
        common(response_);
        response_.version(parser_->get().version());
        // A body is not read, so nothing can follow it.
        const bool body = parser_->chunked() || parser_->content_length().value_or(0) != 0;
        response_.keep_alive(parser_->get().keep_alive() && !body);
        response_.prepare_payload();
        stream_.expires_after(kHttpPatience);
        auto done = [self = shared_from_this()](beast::error_code ec, std::size_t) {
            if (!ec && self->response_.keep_alive() && !self->server_->ended)
                self->read();
        };
        if (!head)
            return http::async_write(stream_, response_, std::move(done));
        serializer_.emplace(response_);   // the header has its length, the body is not sent
        http::async_write_header(stream_, *serializer_, std::move(done));
    }

    void listen()
    {
        http::response<http::empty_body> r(http::status::ok, 11);

        common(r);
        r.set(http::field::content_type, "text/event-stream");
        r.keep_alive(false);   // its end is the end of the connection
        auto text = std::make_shared<std::string>(fmt::format("HTTP/1.1 200 OK\r\n"));
        for (const auto &field : r)
            *text += fmt::format("{}: {}\r\n", std::string_view(field.name_string()), std::string_view(field.value()));
        *text += "\r\n" + server_->event();
        send(text);
        server_->listeners.insert(this);
        server_->each_tick();
        watch();
    }

    // A client of events sends nothing more: whatever arrives means that the connection has ended,
    // and its place is free.
    void watch()
    {
        stream_.socket().async_wait(tcp::socket::wait_read, [self = shared_from_this()](beast::error_code) {
            self->close();
        });
    }

    std::shared_ptr<Shared> server_;
    beast::tcp_stream stream_;
    beast::flat_buffer buffer_;
    std::optional<http::request_parser<http::empty_body>> parser_;
    Text response_;
    std::optional<http::response_serializer<http::string_body>> serializer_;
    bool sending_ = false;
};

void HttpServer::Shared::accept()
{
    acceptor.async_accept([self = shared_from_this()](beast::error_code ec, tcp::socket socket) {
        if (self->ended)
            return;
        if (ec) {
            self->pause.expires_after(kAcceptPause);
            return self->pause.async_wait([self](beast::error_code cancelled) {
                if (!cancelled)
                    self->accept();
            });
        }
        if (self->sessions.size() < kHttpConnections)
            std::make_shared<Session>(self, std::move(socket))->read();
        self->accept();
    });
}

// Runs while there are clients of events.
void HttpServer::Shared::each_tick()
{
    if (ticking || listeners.empty() || ended)
        return;
    ticking = true;
    tick.expires_after(kEventPeriod);
    tick.async_wait([self = shared_from_this()](beast::error_code ec) {
        self->ticking = false;
        if (ec || self->ended || self->listeners.empty())
            return;
        const auto text = std::make_shared<const std::string>(self->event());
        for (auto *session : std::set(self->listeners))
            session->send(text);
        self->each_tick();
    });
}

HttpServer::HttpServer(asio::io_context &io, const tcp::endpoint &at, Page page, std::string event_path, Event event)
    : shared_(std::make_shared<Shared>(io, at, std::move(page), std::move(event_path), std::move(event)))
{
    shared_->accept();
}

HttpServer::~HttpServer()
{
    beast::error_code ignored;

    shared_->ended = true;
    shared_->acceptor.close(ignored);
    shared_->pause.cancel();
    shared_->tick.cancel();
    for (auto *session : shared_->sessions)
        session->close();
}

tcp::endpoint HttpServer::local() const
{
    return shared_->acceptor.local_endpoint();
}

}   // namespace mrcd
