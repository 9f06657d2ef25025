#pragma once
#include "engine/web/server.h"
#include "tools/command_line.h"

namespace nacelle::tools {

// Options of commands with a page.
struct WebOptions {
    bool web = false;
    uint16_t port = 0;
};

void add_web_options(Command command, WebOptions& options);
// Opens the page and prints its address: as a line, or an object where `json`.
std::unique_ptr<WebServer> open_page(const WebOptions& options, Sections& sections,
                                     std::function<void()> looked,
                                     std::function<void(const std::string&)> said, bool json);

}
