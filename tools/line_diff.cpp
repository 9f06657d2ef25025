#include "tools/line_diff.h"

#include <algorithm>
#include <cstdint>

namespace nacelle::tools {
namespace {

constexpr size_t context = 2, most_pairs = size_t(1) << 24;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

struct Edit {
    char mark;               // ' ', '-' or '+'
    size_t before, after;    // the lines at which it stands
};

// The edits along a longest common subsequence, by the usual table over all pairs of lines.
std::vector<Edit> edits_of(const std::vector<std::string>& a, const std::vector<std::string>& b,
                           size_t same_start, size_t same_end) {
    const size_t rows = a.size() - same_start - same_end,
                 columns = b.size() - same_start - same_end;
    std::vector<uint32_t> common((rows + 1) * (columns + 1));
    const auto at = [&](size_t i, size_t j) -> uint32_t& { return common[i * (columns + 1) + j]; };
    for (size_t i = rows; i-- > 0;)
        for (size_t j = columns; j-- > 0;)
            at(i, j) = a[same_start + i] == b[same_start + j]
                           ? at(i + 1, j + 1) + 1
                           : std::max(at(i + 1, j), at(i, j + 1));
    std::vector<Edit> edits;
    for (size_t i = 0; i < same_start; ++i) edits.push_back({' ', i, i});
    for (size_t i = 0, j = 0; i < rows || j < columns;) {
        const size_t x = same_start + i, y = same_start + j;
        if (i < rows && j < columns && a[x] == b[y]) edits.push_back({' ', x, y}), ++i, ++j;
        else if (j == columns || (i < rows && at(i + 1, j) >= at(i, j + 1)))
            edits.push_back({'-', x, y}), ++i;
        else edits.push_back({'+', x, y}), ++j;
    }
    for (size_t i = 0; i < same_end; ++i)
        edits.push_back({' ', a.size() - same_end + i, b.size() - same_end + i});
    return edits;
}

// "3,7" or, of one line, "3"; a side without lines is named by the line before it.
std::string range_of(size_t first, size_t count) {
    if (count == 1) return std::to_string(first + 1);
    return std::to_string(count ? first + 1 : first) + "," + std::to_string(count);
}

}

std::optional<std::vector<std::string>> line_diff(const std::string& before,
                                                  const std::string& after) {
    const std::vector<std::string> a = lines_of(before), b = lines_of(after);
    const size_t least = std::min(a.size(), b.size());
    size_t start = 0, end = 0;
    while (start < least && a[start] == b[start]) ++start;
    while (end < least - start && a[a.size() - 1 - end] == b[b.size() - 1 - end]) ++end;
    if ((a.size() - start - end + 1) * (b.size() - start - end + 1) > most_pairs) return {};
    const std::vector<Edit> edits = edits_of(a, b, start, end);
    std::vector<std::string> lines;
    for (size_t i = 0; i < edits.size();) {
        if (edits[i].mark == ' ') {
            ++i;
            continue;
        }
        // A hunk: changes with at most twice the context between them.
        const size_t from = i - std::min(i, context);
        size_t last = i;
        for (size_t k = i; k < edits.size() && k <= last + 2 * context; ++k)
            if (edits[k].mark != ' ') last = k;
        const size_t to = std::min(edits.size(), last + 1 + context);
        size_t removed = 0, added = 0;
        for (size_t k = from; k < to; ++k) {
            removed += edits[k].mark != '+';
            added += edits[k].mark != '-';
        }
        lines.push_back("@@ -" + range_of(edits[from].before, removed) + " +" +
                        range_of(edits[from].after, added) + " @@");
        for (size_t k = from; k < to; ++k)
            lines.push_back(edits[k].mark +
                            (edits[k].mark == '+' ? b[edits[k].after] : a[edits[k].before]));
        i = to;
    }
    return lines;
}

}
