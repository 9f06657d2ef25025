#pragma once
#include "engine/web/files.h"
#include "engine/web/sections.h"

#include <functional>
#include <memory>

namespace nacelle {

// The settings of a server. The functions are called on its thread and must not wait.
struct WebSettings {
    uint16_t port = 0;    // 0: any that is free
    std::vector<WebFile> files = web_files();
    std::function<void()> looked;                         // a page asks for the newest sections
    std::function<void(const std::string& text)> said;    // a page has sent a command
};

// Shows sections to browsers on this machine: a page at http://127.0.0.1:PORT/TOKEN/, and a WebSocket at live.
// A page sends "next" when it has shown the last message, and gets the newer sections. A slow page therefore delays
// nothing and no queue grows. Every other message of a page goes to `said`.
//
// The server listens on the loopback address alone. It refuses a request without the random token, with another Host
// (DNS rebinding) or with another page's Origin. Files are a list in memory: no path leads to the disk.
class WebServer final {
public:
    WebServer(Sections& sections, WebSettings settings);
    ~WebServer();
    WebServer(const WebServer&) = delete;
    WebServer& operator=(const WebServer&) = delete;

    // "http://127.0.0.1:40123/5f0e.../"
    std::string address() const;

private:
    class Listener;
    std::unique_ptr<Listener> listener_;
};

}
