#include "engine/watch/printed_lines.h"

#include "engine/base/text.h"
#include "engine/config/config.h"

namespace nacelle {
namespace {

constexpr std::chrono::milliseconds between_prints{100};

}

void PrintedLines::add(const std::string& text) {
    for (size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
        end = std::min(text.find('\n', begin), text.size());
        ++count_;
        const std::string line = text.substr(begin, std::min(end - begin, most_letters));
        if (line.empty()) continue;
        lines_.push_back(printable(line));
        if (lines_.size() > most_lines) lines_.pop_front();
    }
    show(false);
}

void PrintedLines::show(bool now) {
    const auto time = std::chrono::steady_clock::now();
    if (count_ == shown_ || (!now && time - told_ < between_prints)) return;
    told_ = time;
    shown_ = count_;
    sections_.put("output", json_text({{"count", count_}, {"lines", lines_}}));
}

}
