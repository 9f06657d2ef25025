#include "engine/config/json_syntax.h"

#include "engine/base/error.h"
#include "engine/config/config.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

namespace nacelle {
namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

bool is_word(char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_' || letter == '.' ||
           letter == '-' || letter == '+';
}

bool is_high(char letter) { return static_cast<unsigned char>(letter) >= 0x80; }

// The word, number or sign at this place.
std::string token_at(std::string_view text, size_t start) {
    size_t end = start + 1;
    if (std::iscntrl(static_cast<unsigned char>(text[start]))) return "a control character";
    if (text[start] == '"') {
        while (end < text.size() && text[end] != '"' && text[end] != '\n') ++end;
        end = std::min(end + 1, text.size());
    } else if (is_word(text[start])) {
        while (end < text.size() && is_word(text[end])) ++end;
    } else {
        while (is_high(text[start]) && end < text.size() && is_high(text[end])) ++end;
    }
    constexpr size_t shown = 40;
    const std::string_view token = text.substr(start, end - start);
    return token.size() <= shown ? std::string(token) : std::string(token.substr(0, shown)) + "...";
}

// Follows the parser to know where it stands when it stops: the library's own message is written
// for the authors of parsers.
class Checker final : public nlohmann::json_sax<Json> {
public:
    Checker(std::string_view text, const std::string& where) : text_(text), where_(where) {}

    [[noreturn]] void fail(size_t at, const std::string& what) const {
        const std::string_view before = text_.substr(0, at);
        const auto lines = std::count(before.begin(), before.end(), '\n');
        const size_t newline = before.rfind('\n');
        std::string_view line = before.substr(newline == before.npos ? 0 : newline + 1);
        if (line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
        // Columns count characters: the bytes that continue one in UTF-8 do not count.
        const auto column = std::count_if(line.begin(), line.end(), [](char letter) {
            return (static_cast<unsigned char>(letter) & 0xc0) != 0x80;
        });
        throw Error(where_ + ":" + std::to_string(lines + 1) + ":" + std::to_string(column + 1),
                    what);
    }

    bool null() override { return value(); }
    bool boolean(bool) override { return value(); }
    bool number_integer(number_integer_t) override { return value(); }
    bool number_unsigned(number_unsigned_t) override { return value(); }
    bool number_float(number_float_t, const string_t&) override { return value(); }
    bool string(string_t& text) override {
        if (text.find('\0') != text.npos) throw Error(where_, "'" + path() + "' holds \\u0000");
        return value();
    }
    bool binary(binary_t&) override { return value(); }
    bool start_object(std::size_t) override { return enter('}'); }
    bool end_object() override { return leave(); }
    bool start_array(std::size_t) override { return enter(']'); }
    bool end_array() override { return leave(); }

    bool key(string_t& name) override {
        if (name.find('\0') != name.npos) throw Error(where_, "a key holds \\u0000");
        Level& level = levels_.back();
        level.key = name;
        if (!level.keys.insert(name).second) throw Error(where_, "'" + path() + "' stands twice");
        after_key_ = true;
        return true;
    }

    bool parse_error(std::size_t position, const std::string& token,
                     const nlohmann::detail::exception& error) override {
        const std::string_view what = error.what();
        const size_t last = std::min(position - 1, text_.size());    // the last byte that was read
        if (what.find("invalid string") != what.npos) fail(last, string_problem(last));
        if (last == text_.size()) fail(last, end_problem());
        constexpr int number_overflow = 406;
        if (error.id == number_overflow) fail(position - token.size(), "the number is too large");

        size_t start = last;
        if (what.find("unexpected string") != what.npos) start = position - token.size();
        else if (is_word(text_[last]) || what.find("invalid") != what.npos) {
            while (start > 0 && is_word(text_[start - 1])) --start;
        }
        fail(start, problem(start));
    }

private:
    struct Level {
        char end;
        std::string key;
        std::set<std::string> keys;
    };

    bool value() {
        after_key_ = false;
        return true;
    }
    bool enter(char end) {
        levels_.push_back({end, {}, {}});
        return value();
    }
    bool leave() {
        levels_.pop_back();
        return value();
    }

    std::string path() const {
        std::string path;
        for (const Level& level : levels_) {
            if (level.end == '}') path += (path.empty() ? "" : ".") + level.key;
        }
        return path;
    }

    std::string string_problem(size_t at) const {
        if (at == text_.size() || text_[at] == '\n') return "a text is not closed with '\"'";
        if (is_high(text_[at]) || is_high(text_[at - 1])) return "a text that is not UTF-8";
        if (static_cast<unsigned char>(text_[at]) < ' ') return "a control character in a text";
        return "a backslash that starts none of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u1234";
    }

    std::string end_problem() const {
        const bool blank = text_.find_first_not_of(" \t\r\n") == text_.npos;
        if (blank) return "the file is empty";
        if (levels_.empty()) return "the file ends too early";
        return std::string("the file ends before the last '") + levels_.back().end + "'";
    }

    std::string problem(size_t start) const {
        const std::string found = token_at(text_, start);
        if (found == "/" || found == "#") return "comments are no part of JSON";
        const size_t at = text_.substr(0, start).find_last_not_of(" \t\r\n");
        const char before = at == text_.npos ? '\0' : text_[at];
        const std::string end = levels_.empty() ? "" : std::string(1, levels_.back().end);
        if (before == ',' && found == end) return "a comma too much before '" + end + "'";
        return "expected " + expected(before, end) + ", found " + found;
    }

    std::string expected(char before, const std::string& end) const {
        if (levels_.empty()) return before == '\0' ? "a value" : "the end of the file";
        if (before == ':') return "a value";
        if (after_key_) return "':' after the key";
        const bool starts = before == ',' || before == '{' || before == '[';
        if (!starts) return "',' or '" + end + "'";
        return end == "}" ? "a key in double quotes" : "a value";
    }

    std::string_view text_;
    const std::string& where_;
    std::vector<Level> levels_;
    bool after_key_ = false;
};

}

void check_json_syntax(const std::string& text, const std::string& where) {
    Checker checker(text, where);
    // The library takes it for the end.
    if (const size_t nul = text.find('\0'); nul != text.npos) checker.fail(nul, "a NUL byte");
    if (const size_t at = too_deep_at(text); at != text.npos)
        checker.fail(at, "nested deeper than " + std::to_string(most_json_depth) + " levels");
    Json::sax_parse(text, &checker);
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
