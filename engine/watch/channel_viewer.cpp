#include "engine/watch/channel_viewer.h"

#include "engine/supervised/lines.h"
#include "engine/watch/local_viewer.h"

namespace nacelle {

void ChannelViewer::show(const std::string& section, std::string json) {
    if (section == "picture") wanted_ = false;
    parent_.say(section + " " + json);
}

std::vector<Json> ChannelViewer::commands() {
    const bool there = parent_.receive(text_);
    std::vector<Json> found;
    each_line(text_, [&](const std::string& line) {
        if (line == "look") wanted_ = true;
        else if (Json command = read_command(line); !command.is_null())
            found.push_back(std::move(command));
    });
    if (!there) found.push_back({{"do", "quit"}});
    return found;
}

}
