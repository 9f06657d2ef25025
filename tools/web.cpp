#include "tools/web.h"

#include "engine/config/config.h"
#include "tools/output.h"

#include <iostream>

namespace nacelle::tools {

void add_web_options(Command command, WebOptions& options) {
    const Option web = command.flag(
        "--web", options.web, "Show it on a page, for a browser of this machine and nobody else");
    command.option("--port", options.port, "Where the page is; 0: any port that is free")
        .between(0, 65535)
        .needs(web);
}

std::unique_ptr<WebServer> open_page(const WebOptions& options, Sections& sections,
                                     std::function<void()> looked,
                                     std::function<void(const std::string&)> said, bool json) {
    if (!options.web) return nullptr;
    auto server = std::make_unique<WebServer>(
        sections,
        WebSettings{.port = options.port, .looked = std::move(looked), .said = std::move(said)});
    if (json) print_json({{"kind", "web"}, {"address", server->address()}});
    else std::cout << "the page: " << server->address() << std::endl;
    return server;
}

}
