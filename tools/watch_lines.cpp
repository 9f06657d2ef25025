#include "tools/watch_lines.h"

#include "engine/base/text.h"
#include "engine/config/config.h"
#include "tools/output.h"
#include "tools/watch_terminal.h"

#include <algorithm>
#include <iostream>

namespace nacelle::tools {
namespace {

void say(const char* kind, const std::string& section) {
    Json line = try_parse_json(section).value_or(Json());
    if (!line.is_object()) return;
    line["kind"] = kind;
    print_json(line);
}

}

void WatchLines::turn() {
    const std::string news = sections_.section("news");
    if (news != news_ && news != "null") {
        news_ = news;
        const std::string words = news_words(sections_);
        if (json_) say("news", news);
        else if (!words.empty()) std::cout << printable(words) << std::endl;
    }
    prints();
    const auto now = std::chrono::steady_clock::now();
    if (now - said_ < std::chrono::seconds(1)) return;
    said_ = now;
    status();
}

// Prints the lines that came since the last call, as far as the section still has them.
void WatchLines::prints() {
    const Json output = try_parse_json(sections_.section("output")).value_or(Json());
    if (!output.is_object()) return;
    const uint64_t count = output.at("count"), fresh = count - std::min(count, printed_);
    const Json& lines = output.at("lines");
    printed_ = count;
    for (size_t i = lines.size() - std::min<size_t>(fresh, lines.size()); i < lines.size(); ++i)
        std::cerr << lines[i].get<std::string>() << '\n';
}

void WatchLines::status() {
    const std::string text = sections_.section("status");
    if (text == "null" || text == status_) return;
    status_ = text;
    if (json_) say("status", text);
    else std::cout << status_words(sections_) << std::endl;
}

void RecordedFiles::look(const Sections& sections) {
    const Json files = try_parse_json(sections.section("recording")).value_or(Json());
    if (!files.is_array()) return;
    for (const Json& one : files) episodes_[one.at("file")] = one.at("episodes");
}

void RecordedFiles::tell(bool json) const {
    for (const auto& [file, episodes] : episodes_)
        if (json) print_json({{"kind", "recording"}, {"file", file}, {"episodes", episodes}});
        else
            std::cout << "recorded in " << file << ": " << episodes
                      << (episodes == 1 ? " episode" : " episodes") << std::endl;
}

}
