#include "tools/watch_lines.h"

#include "engine/config/config.h"
#include "tools/watch_terminal.h"

#include <iostream>

namespace nacelle::tools {
namespace {

void say(const char* kind, const std::string& section) {
    Json line = Json::parse(section);
    line["kind"] = kind;
    std::cout << line << std::endl;
}

}

void WatchLines::turn() {
    const std::string news = board_.section("news");
    if (news != news_ && news != "null") {
        news_ = news;
        const std::string words = news_words(board_);
        if (json_) say("news", news);
        else if (!words.empty()) std::cout << words << std::endl;
    }
    const auto now = std::chrono::steady_clock::now();
    if (now - said_ < std::chrono::seconds(1)) return;
    said_ = now;
    status();
}

void WatchLines::status() {
    const std::string text = board_.section("status");
    if (text == "null" || text == status_) return;
    status_ = text;
    if (json_) say("status", text);
    else std::cout << status_words(board_) << std::endl;
}

void Recorded::look(const Board& board) {
    const Json files = Json::parse(board.section("recording"), nullptr, false);
    if (!files.is_array()) return;
    for (const Json& one : files) episodes_[one.at("file")] = one.at("episodes");
}

void Recorded::tell(bool json) const {
    for (const auto& [file, episodes] : episodes_)
        if (json)
            std::cout << Json{{"kind", "recording"}, {"file", file}, {"episodes", episodes}}
                      << std::endl;
        else
            std::cout << "recorded in " << file << ": " << episodes
                      << (episodes == 1 ? " episode" : " episodes") << std::endl;
}

}
