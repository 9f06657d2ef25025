#pragma once
#include "engine/web/server.h"
#include "tools/command_line.h"

namespace nacelle::tools {

// What commands that have a page take.
struct WebOptions {
    bool web = false;
    uint16_t port = 0;
};

void add_web_options(Command command, WebOptions& options);
// Opens the page and says where it is: a line, or an object where `json`.
std::unique_ptr<WebServer> open_page(const WebOptions& options, Board& board,
                                     std::function<void()> looked,
                                     std::function<void(const std::string&)> said, bool json);

}
