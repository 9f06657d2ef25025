#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace nacelle {

// What a viewer sees: JSON texts, each under the name of its section and complete in itself. Only the newest
// text of a section is kept, so that a slow reader skips versions and nothing piles up. Any thread may use it.
class Sections final {
public:
    // The version of each section that a reader has seen.
    using Seen = std::map<std::string, uint64_t>;

    void put(const std::string& section, std::string json);
    // The sections that are newer than `seen`, as one JSON object, or an empty text. Marks them as seen.
    std::string news(Seen& seen) const;
    // "null" where there is no such section yet.
    std::string section(const std::string& name) const;
    // Called at each change under the lock: it must neither wait nor call this object.
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
