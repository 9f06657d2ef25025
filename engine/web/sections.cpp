#include "engine/web/sections.h"

#include <utility>
#include <vector>

namespace nacelle {

void Sections::put(const std::string& section, std::string json) {
    const std::lock_guard lock(mutex_);
    Section& mine = sections_[section];
    if (mine.text && *mine.text == json) return;
    mine.text = std::make_shared<const std::string>(std::move(json));
    mine.version = ++version_;
    if (changed_) changed_();
}

std::string Sections::news(Seen& seen) const {
    // Large texts are copied after the lock is released.
    std::vector<std::pair<std::string, std::shared_ptr<const std::string>>> found;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [name, section] : sections_) {
            uint64_t& last = seen[name];
            if (last == section.version) continue;
            last = section.version;
            found.emplace_back(name, section.text);
        }
    }
    std::string text;
    for (const auto& [name, json] : found)
        text.append(text.empty() ? "{\"" : ",\"").append(name).append("\":").append(*json);
    return text.empty() ? text : text + "}";
}

std::string Sections::section(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = sections_.find(name);
    return found == sections_.end() ? "null" : *found->second.text;
}

void Sections::on_change(std::function<void()> changed) {
    const std::lock_guard lock(mutex_);
    changed_ = std::move(changed);
}

}
