#include "engine/config/json_syntax.h"

#include "engine/base/error.h"
#include "engine/config/config.h"

#include <algorithm>
#include <nacelle/plugin/json.h>

namespace nacelle {

static_assert(plugin::JsonReader::most_depth == most_json_depth);

void check_json_syntax(const std::string& text, const std::string& where) {
    try {
        plugin::JsonReader(text).whole();
    } catch (const plugin::JsonError& wrong) {
        if (wrong.at() == plugin::JsonError::whole) throw Error(where, wrong.what());
        const std::string_view before = std::string_view(text).substr(0, wrong.at());
        const auto lines = std::count(before.begin(), before.end(), '\n');
        const size_t newline = before.rfind('\n');
        std::string_view line = before.substr(newline == before.npos ? 0 : newline + 1);
        if (constexpr std::string_view mark = "\xef\xbb\xbf"; line.starts_with(mark))
            line.remove_prefix(mark.size());
        // Columns count characters: continuation bytes of UTF-8 do not count.
        const auto column = std::count_if(line.begin(), line.end(), [](char letter) {
            return (static_cast<unsigned char>(letter) & 0xc0) != 0x80;
        });
        throw Error(where + ":" + std::to_string(lines + 1) + ":" + std::to_string(column + 1),
                    wrong.what());
    }
}

size_t too_deep_at(std::string_view text) {
    size_t depth = 0;
    bool quoted = false;
    for (size_t at = 0; at < text.size(); ++at) {
        const char letter = text[at];
        if (letter == '"') quoted = !quoted;
        else if (quoted) at += letter == '\\';
        else if (letter == '{' || letter == '[') {
            if (++depth > most_json_depth) return at;
        } else if (letter == '}' || letter == ']') depth -= depth > 0;
    }
    return text.npos;
}

}
