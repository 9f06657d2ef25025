#pragma once
#include "engine/web/board.h"
#include "engine/web/files.h"

#include <functional>
#include <memory>

namespace nacelle {

// How a server is set up. The functions are called on its thread and must not wait.
struct WebSettings {
    uint16_t port = 0;    // 0: any that is free
    std::vector<WebFile> files = web_files();
    std::function<void()> looked;                         // somebody wants what is newest
    std::function<void(const std::string& text)> said;    // what a page sends
};

// Shows a board to browsers of this machine: a page at http://127.0.0.1:PORT/TOKEN/, and a WebSocket
// at live. A page sends "next" when it has shown the last message, and gets what is newer; so a page
// that does not read makes nothing wait and nothing grow. Anything else that it sends is `said`.
//
// Only the loopback address listens. Without the token, which is random, with another Host (a name
// that somebody else's server has made ours) or another page's Origin everything is refused, and the
// files are a list in memory: no path leads to the disk.
class WebServer final {
public:
    WebServer(Board& board, WebSettings settings);
    ~WebServer();
    WebServer(const WebServer&) = delete;
    WebServer& operator=(const WebServer&) = delete;

    // "http://127.0.0.1:40123/5f0e.../"
    std::string address() const;

private:
    class Inside;
    std::unique_ptr<Inside> inside_;
};

}
