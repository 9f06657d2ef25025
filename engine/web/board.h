#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace nacelle {

// What there is to see, in sections by name, each a JSON text that says all of its own. Only the newest
// of each is kept: who looks seldom skips what came between, and nothing ever piles up. Any thread may
// use it.
class Board final {
public:
    // Up to where somebody has seen each section.
    using Seen = std::map<std::string, uint64_t>;

    void put(const std::string& section, std::string json);
    // The sections that are newer than `seen`, as one JSON object; empty where there are none. They count
    // as seen.
    std::string news(Seen& seen) const;
    // "null" where there is no such section yet.
    std::string section(const std::string& name) const;
    // Told of each change, with the board locked: it must neither wait nor ask the board.
    void on_change(std::function<void()> changed);

private:
    struct Section {
        std::shared_ptr<const std::string> text;
        uint64_t version = 0;
    };

    mutable std::mutex mutex_;
    std::map<std::string, Section> sections_;
    uint64_t version_ = 0;
    std::function<void()> changed_;
};

}
