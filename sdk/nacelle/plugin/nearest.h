#pragma once
#include <algorithm>
#include <string>
#include <vector>

namespace nacelle::plugin {

// The letters to insert, delete, replace or swap with a neighbour that lead from one word to the other.
inline size_t edit_distance(const std::string& from, const std::string& to) {
    std::vector<size_t> before, last, row(to.size() + 1);
    for (size_t j = 0; j <= to.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= from.size(); ++i) {
        before = last;
        last = row;
        row[0] = i;
        for (size_t j = 1; j <= to.size(); ++j) {
            const size_t changed = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
            row[j] = std::min({changed, last[j] + 1, row[j - 1] + 1});
            if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row.back();
}

// The largest distance that counts as a typing error in a word of this length.
constexpr size_t most_typing_errors(size_t length) {
    return length <= 1 ? 0 : length <= 5 ? 1 : length <= 8 ? 2 : 3;
}

// The name that a word with typing errors was meant to be; null where none is near.
inline const std::string* nearest(const std::string& word, const std::vector<std::string>& names) {
    const std::string* found = nullptr;
    size_t least = 0;
    for (const std::string& name : names) {
        const size_t distance = edit_distance(word, name);
        if (distance > most_typing_errors(std::max(word.size(), name.size())) ||
            (found && distance >= least))
            continue;
        found = &name;
        least = distance;
    }
    return found;
}

}
