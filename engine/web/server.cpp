// The one file that reads the headers of Boost.Beast: they take a compiler half a minute.
#include "engine/web/server.h"

#include "engine/base/error.h"
#include "engine/web/access.h"
#include "engine/web/connection_slots.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

namespace nacelle {
// With a name, since WebServer::Listener has members of these types.
namespace serving {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using Tcp = asio::ip::tcp;
using Code = beast::error_code;
using Request = http::request<http::empty_body>;

// In bytes.
constexpr uint32_t most_header = 8192;
constexpr size_t most_said = 4096;
// Connections that have not shown the token, that have shown it, and WebSockets.
constexpr size_t most_unauthorised = 32, most_authorised = 32, most_pages = 32;
constexpr std::chrono::seconds request_time{10}, silence{30};
// The pause before the next accept() where the process has no descriptor left.
constexpr std::chrono::milliseconds accept_pause{100};

struct Shared {
    Sections& sections;
    WebSettings settings;
    std::string token;
    unsigned port = 0;
    ConnectionSlots unauthorised{most_unauthorised}, authorised{most_authorised};
};

// The WebSocket of an open page.
class Page final : public std::enable_shared_from_this<Page> {
public:
    Page(Shared& shared, beast::tcp_stream stream) : shared_(shared), socket_(std::move(stream)) {}

    void start(const Request& request) {
        beast::get_lowest_layer(socket_).expires_never();
        socket_.set_option(websocket::stream_base::timeout{request_time, silence, true});
        socket_.read_message_max(most_said);
        socket_.async_accept(request, [self = shared_from_this()](Code failed) {
            if (!failed) self->read();
        });
    }
    // Sends the sections that the page has not seen, if it is waiting for them.
    void offer() {
        if (!waits_ || writes_) return;
        text_ = shared_.sections.news(seen_);
        if (text_.empty()) return;
        waits_ = false;
        writes_ = true;
        socket_.text(true);
        socket_.async_write(asio::buffer(text_), [self = shared_from_this()](Code failed, size_t) {
            self->writes_ = false;
            if (!failed) self->offer();
        });
    }

private:
    void read() {
        socket_.async_read(buffer_, [self = shared_from_this()](Code failed, size_t) {
            if (failed) return;
            self->take(beast::buffers_to_string(self->buffer_.data()));
            self->buffer_.consume(self->buffer_.size());
            self->read();
        });
    }
    void take(const std::string& text) {
        if (text != "next") {
            if (shared_.settings.said) shared_.settings.said(text);
            return;
        }
        waits_ = true;
        if (shared_.settings.looked) shared_.settings.looked();
        offer();
    }

    Shared& shared_;
    websocket::stream<beast::tcp_stream, false> socket_;    // without compression
    beast::flat_buffer buffer_{most_said + 256};
    Sections::Seen seen_;
    std::string text_;
    bool waits_ = false, writes_ = false;
};

using Pages = std::vector<std::weak_ptr<Page>>;

// An HTTP connection, until it becomes the WebSocket of a page.
class Connection final : public std::enable_shared_from_this<Connection> {
public:
    Connection(Shared& shared, Pages& pages, Tcp::socket socket)
        : shared_(shared), pages_(pages), stream_(std::move(socket)) {
        take_slot(shared.unauthorised);
    }

    void read() {
        parser_.emplace();
        parser_->header_limit(most_header);
        parser_->body_limit(0);
        stream_.expires_after(request_time);
        http::async_read(stream_, buffer_, *parser_,
                         [self = shared_from_this()](Code failed, size_t) {
                             if (failed) self->refuse(failed);
                             else self->answer(self->parser_->release());
                         });
    }

private:
    void take_slot(ConnectionSlots& slots) {
        slot_.reset();
        slot_.emplace(slots, [this] { stream_.close(); });
    }

    void refuse(Code failed) {
        const auto has_body =
            failed == http::error::body_limit || failed == http::error::unexpected_body;
        if (failed == http::error::header_limit || failed == http::error::buffer_overflow)
            return write(431, "this request is too large");
        if (has_body) return write(413, "a request has no body here");
        if (failed == http::error::end_of_stream || failed == http::error::partial_message ||
            failed.category() != http::make_error_code(http::error::bad_method).category())
            return;    // the client has gone or is too slow
        write(400, "this is no request");
    }

    void answer(const Request& request) {
        const auto view = [](beast::string_view text) {
            return std::string_view(text.data(), text.size());
        };
        version_ = request.version();
        keeps_ = request.keep_alive();
        head_ = request.method() == http::verb::head;
        const Access access = check_access({.method = view(request.method_string()),
                                            .target = view(request.target()),
                                            .host = view(request[http::field::host]),
                                            .origin = view(request[http::field::origin]),
                                            .hosts = int(request.count(http::field::host)),
                                            .origins = int(request.count(http::field::origin))},
                                           shared_.token, shared_.port);
        if (access.status != 200) return write(access.status, access.name);
        take_slot(shared_.authorised);
        if (access.name == "live") {
            if (!websocket::is_upgrade(request)) return write(426, "this is a WebSocket");
            return become_page(request);
        }
        const WebFile* const file =
            find_file(shared_.settings.files, access.name.empty() ? "index.html" : access.name);
        if (file) write(200, file->text, file->type);
        else write(404, "there is no such file");
    }

    void become_page(const Request& request) {
        std::erase_if(pages_, [](const auto& one) { return one.expired(); });
        if (pages_.size() >= most_pages)
            return write(503, std::to_string(most_pages) + " pages are open already: close one");
        slot_.reset();
        const auto page = std::make_shared<Page>(shared_, std::move(stream_));
        pages_.push_back(page);
        page->start(request);
    }

    void write(int status, const std::string& text,
               const std::string& type = "text/plain; charset=utf-8") {
        if (status != 200 && status != 404) keeps_ = false;
        response_ = {};
        response_.version(version_);
        response_.result(static_cast<unsigned>(status));
        response_.set(http::field::content_type, type);
        response_.set(http::field::cache_control, "no-store");
        response_.set("Content-Security-Policy",
                      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' "
                      "data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
                      "connect-src 'self' ws://127.0.0.1:" +
                          std::to_string(shared_.port) +
                          " ws://localhost:" + std::to_string(shared_.port));
        response_.set("Cross-Origin-Resource-Policy", "same-origin");
        response_.set("Referrer-Policy", "no-referrer");
        response_.set("X-Content-Type-Options", "nosniff");
        response_.keep_alive(keeps_);
        response_.content_length(text.size());
        if (!head_) response_.body() = text;
        stream_.expires_after(request_time);
        http::async_write(stream_, response_, [self = shared_from_this()](Code failed, size_t) {
            if (failed) return;
            if (self->keeps_) return self->read();
            self->stream_.socket().shutdown(Tcp::socket::shutdown_send, failed);
        });
    }

    Shared& shared_;
    Pages& pages_;
    beast::tcp_stream stream_;
    std::optional<ConnectionSlot> slot_;
    beast::flat_buffer buffer_{most_header + 1024};
    std::optional<http::request_parser<http::empty_body>> parser_;
    http::response<http::string_body> response_;
    unsigned version_ = 11;
    bool keeps_ = false, head_ = false;
};

}

using namespace serving;

class WebServer::Listener final {
public:
    Listener(Sections& sections, WebSettings settings)
        : shared_{.sections = sections, .settings = std::move(settings), .token = random_token()},
          acceptor_(context_),
          pause_(context_) {
        try {
            const Tcp::endpoint here(asio::ip::address_v4::loopback(), shared_.settings.port);
            acceptor_.open(here.protocol());
            acceptor_.set_option(asio::socket_base::reuse_address(true));
            acceptor_.bind(here);
            acceptor_.listen();
        } catch (const boost::system::system_error& failed) {
            throw Error("--port " + std::to_string(shared_.settings.port),
                        "cannot be listened on: " + failed.code().message(),
                        "without --port one that is free is taken");
        }
        shared_.port = acceptor_.local_endpoint().port();
        accept();
        sections.on_change([this] {
            if (!told_.exchange(true)) asio::post(context_, [this] { offer(); });
        });
        thread_ = std::thread([this] { run(); });
    }
    ~Listener() {
        shared_.sections.on_change({});
        context_.stop();
        thread_.join();
    }
    std::string address() const {
        return "http://127.0.0.1:" + std::to_string(shared_.port) + "/" + shared_.token + "/";
    }

private:
    void run() {
        for (;;) {
            try {
                context_.run();
                return;
            } catch (const std::exception&) {
                // It concerns one connection: no memory, or a closed socket. The others go on.
            }
        }
    }
    void accept() {
        acceptor_.async_accept([this](Code failed, Tcp::socket socket) {
            if (failed) return accept_later();
            accept();    // first: a connection that finds no memory keeps no other out
            std::make_shared<Connection>(shared_, pages_, std::move(socket))->read();
        });
    }
    // Most likely the process has too many open files: an immediate retry would fail again.
    void accept_later() {
        shared_.unauthorised.close_oldest();
        pause_.expires_after(accept_pause);
        pause_.async_wait([this](Code) { accept(); });
    }
    void offer() {
        told_ = false;
        for (const auto& one : pages_)
            if (const std::shared_ptr<Page> page = one.lock()) page->offer();
    }

    Shared shared_;    // outlives the context, whose connections refer to it
    Pages pages_;
    asio::io_context context_;
    Tcp::acceptor acceptor_;
    asio::steady_timer pause_;
    std::atomic<bool> told_ = false;
    std::thread thread_;
};

WebServer::WebServer(Sections& sections, WebSettings settings)
    : listener_(std::make_unique<Listener>(sections, std::move(settings))) {}
WebServer::~WebServer() = default;
std::string WebServer::address() const { return listener_->address(); }

}
