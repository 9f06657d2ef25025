#pragma once
#include "algorithms/policy_gradient/settings/settings.h"

#include <algorithm>

// Settings that are one of some words.
namespace learn {

inline std::string listed(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}
inline std::string one_of(nacelle::plugin::Config& config, const std::string& path,
                          const std::string& key, const std::string& fallback,
                          const std::vector<std::string>& words) {
    const std::string word = config.text(key, fallback);
    if (std::find(words.begin(), words.end(), word) == words.end())
        wrong(path + key, "there is no '" + word + "' (there is: " + listed(words) + ")");
    return word;
}

}
