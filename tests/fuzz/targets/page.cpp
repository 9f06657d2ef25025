#include "engine/watch/local_viewer.h"
#include "engine/web/server.h"
#include "tests/fuzz/client.h"
#include "tests/fuzz/mutation.h"
#include "tests/fuzz/target.h"

#include <optional>
#include <stdexcept>

namespace nacelle::fuzz {
namespace {

// An input is what one connection does, deed by deed: a letter, the size of its bytes in two bytes, and
// the bytes. In them @PORT@ and @TOKEN@ stand for the server's.
enum Deed : char {
    say = 's',
    upgrade_to_socket = 'u',
    say_in_frame = 'f',
    end_sending = 'e',
    listen = 'l'
};

std::string deed(Deed what, const std::string& bytes = "") {
    std::string text(3, char(what));
    put(text, 1, uint16_t(bytes.size()));
    return text + bytes.substr(0, 0xffff);
}

struct Did {
    char what;
    std::string bytes;
};
std::vector<Did> deeds_of(const std::string& input) {
    std::vector<Did> deeds;
    for (size_t at = 0; at + 3 <= input.size() && deeds.size() < 64;) {
        const size_t size = std::min<size_t>(get<uint16_t>(input, at + 1), input.size() - at - 3);
        deeds.push_back({input[at], input.substr(at + 3, size)});
        at += 3 + size;
    }
    return deeds;
}

class PageServer final : public Target {
public:
    std::vector<std::string> samples() override {
        const std::string host = "Host: 127.0.0.1:@PORT@\r\n", end = "\r\n",
                          get = "GET /@TOKEN@/ HTTP/1.1\r\n", up = deed(upgrade_to_socket);
        return {
            deed(say, get + host + end) + deed(listen),
            deed(say, "GET /@TOKEN@/page.css HTTP/1.1\r\n") + deed(say, host) + deed(say, end) +
                deed(say, get + host + end),
            deed(say, "GET / HTTP/1.1\r\n" + host + "Origin: http://127.0.0.1:@PORT@\r\n" + end),
            deed(say, "POST /@TOKEN@/ HTTP/1.1\r\n" + host + "Content-Length: 5\r\n\r\nhello"),
            deed(say, get + host + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
            deed(say, get + host) + deed(end_sending),
            up + deed(say_in_frame, "\x81next") + deed(listen) + deed(say_in_frame, "\x81next"),
            up + deed(say_in_frame, "\x01{\"do\":") + deed(say_in_frame, "\x89ping") +
                deed(say_in_frame, "\x80\"pause\"}"),
            up +
                deed(say_in_frame, "\x88\x03\xe8"
                                   "bye") +
                deed(listen),
            up + deed(say, frame(0x81, std::string(5000, 'x'))),
            up + deed(say, std::string("\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff", 10)) +
                deed(end_sending),
            up + deed(say, std::string("\x81\x04next", 6)) + deed(say_in_frame, "\x8a"),
        };
    }

    std::string mutated(const std::string& input, const std::string& other, Dice& dice) override {
        std::vector<Did> deeds = deeds_of(input);
        const std::vector<Did> others = deeds_of(other);
        if (deeds.empty() || dice.chance(0.1)) return mutated_bytes(input, other, dice);
        const size_t chosen = dice.index(deeds.size());
        const Did with = others.empty() ? deeds[chosen] : others[dice.index(others.size())];
        switch (dice.below(6)) {
            case 0: deeds.insert(deeds.begin() + ptrdiff_t(chosen), with); break;
            case 1: deeds.erase(deeds.begin() + ptrdiff_t(chosen)); break;
            case 2: deeds[chosen].what = "sufel"[dice.index(5)]; break;
            default: deeds[chosen].bytes = mutated_text(deeds[chosen].bytes, with.bytes, dice);
        }
        std::string result;
        for (const Did& one : deeds) result += deed(Deed(one.what), one.bytes);
        return result;
    }

    void read(const std::string& input) override {
        if (!server_) begin();
        {
            Client rude(port_);
            for (Did& one : deeds_of(input)) act(rude, one);
        }
        require_answer();
    }

private:
    // In the process that reads: a thread does not come along to a child.
    void begin() {
        server_.emplace(
            sections_, WebSettings{.port = 0,
                                   .files = web_files(),
                                   .looked = [this] { viewer_.look(); },
                                   .said = [this](const std::string& text) { viewer_.ask(text); }});
        const std::string address = server_->address();    // http://127.0.0.1:PORT/TOKEN/
        const size_t colon = address.rfind(':'), slash = address.find('/', colon);
        port_ = unsigned(std::stoul(address.substr(colon + 1, slash - colon - 1)));
        token_ = address.substr(slash + 1, address.size() - slash - 2);
        page_.emplace(port_);
        page_->send(upgrade("/" + token_ + "/live", port_));
        page_->receive_until("\r\n\r\n");
    }

    void act(Client& client, Did& one) const {
        replace_all(one.bytes, "@PORT@", std::to_string(port_));
        replace_all(one.bytes, "@TOKEN@", token_);
        switch (one.what) {
            case say: client.send(one.bytes); break;
            case upgrade_to_socket: client.send(upgrade("/" + token_ + "/live", port_)); break;
            case say_in_frame:
                if (!one.bytes.empty())
                    client.send(
                        frame(static_cast<unsigned char>(one.bytes[0]), one.bytes.substr(1)));
                break;
            case end_sending: client.end_sending(); break;
            default: client.heard(); break;
        }
    }

    // A page that has looked all the time gets what is new; now and then somebody new comes, too.
    void require_answer() {
        const std::string news = std::to_string(++answers_);
        sections_.put("status", news);
        viewer_.commands();
        page_->send(frame(0x81, "next"));
        page_->receive_until("{\"status\":" + news + "}");
        if (answers_ % 16) return;
        Client visitor(port_);
        visitor.send("GET /" + token_ + "/ HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) +
                     "\r\n\r\n");
        visitor.receive_until("</html>");
    }

    Sections sections_;
    LocalViewer viewer_{sections_};
    std::optional<WebServer> server_;
    unsigned port_ = 0;
    std::string token_;
    std::optional<Client> page_;
    uint64_t answers_ = 0;
};

}

std::unique_ptr<Target> page_target() { return std::make_unique<PageServer>(); }

}
