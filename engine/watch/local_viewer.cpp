#include "engine/watch/local_viewer.h"

#include <utility>

namespace nacelle {
namespace {

constexpr size_t most_commands = 256;

}

Json read_command(const std::string& text) {
    Json command = try_parse_json(text).value_or(Json());
    const bool good = command.is_object() && command.contains("do") && command["do"].is_string();
    return good ? command : Json();
}

void LocalViewer::ask(const std::string& text) {
    Json command = read_command(text);
    if (command.is_null()) return;
    const std::lock_guard lock(mutex_);
    if (commands_.size() >= most_commands) return;
    commands_.push_back(std::move(command));
    asked_ = true;
}

void LocalViewer::show(const std::string& section, std::string json) {
    if (section == "picture") wanted_ = false;
    sections_.put(section, std::move(json));
}

std::vector<Json> LocalViewer::commands() {
    if (!asked_) return {};    // the usual case costs a run nothing
    const std::lock_guard lock(mutex_);
    asked_ = false;
    return std::exchange(commands_, {});
}

}
