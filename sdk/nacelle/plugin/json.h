#pragma once
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>
// A small reader of JSON, for plugins that bring no library of their own.

namespace nacelle::plugin {

struct JsonValue {
    enum class Kind { null, flag, number, text, list, object };
    Kind kind = Kind::null;
    double number = 0;    // of a flag: 0 or 1
    std::string text;
    std::vector<JsonValue> list;      // of a list, or the values of an object
    std::vector<std::string> keys;    // of an object, in the order of its values
};

// Throws std::runtime_error with the place of what is wrong.
class JsonReader final {
public:
    explicit JsonReader(std::string_view text) : text_(text) {}

    JsonValue whole() {
        JsonValue value = read(0);
        skip_space();
        if (at_ != text_.size()) fail("something follows the value");
        return value;
    }

private:
    static constexpr int most_depth = 64;

    JsonValue read(int depth) {
        if (depth > most_depth) fail("is nested too deeply");
        JsonValue value;
        switch (peek()) {
            case '{': read_members(value, depth); break;
            case '[': read_list(value, depth); break;
            case '"':
                value.kind = JsonValue::Kind::text;
                value.text = read_text();
                break;
            default: read_word(value);
        }
        return value;
    }

    void read_members(JsonValue& value, int depth) {
        value.kind = JsonValue::Kind::object;
        take('{');
        if (take_if('}')) return;
        do {
            peek();
            value.keys.push_back(read_text());
            take(':');
            value.list.push_back(read(depth + 1));
        } while (take_if(','));
        take('}');
    }

    void read_list(JsonValue& value, int depth) {
        value.kind = JsonValue::Kind::list;
        take('[');
        if (take_if(']')) return;
        do value.list.push_back(read(depth + 1));
        while (take_if(','));
        take(']');
    }

    void read_word(JsonValue& value) {
        const auto is = [&](std::string_view word) {
            if (!text_.substr(at_).starts_with(word)) return false;
            at_ += word.size();
            return true;
        };
        if (is("null")) return;
        value.kind = JsonValue::Kind::flag;
        if (is("false")) return;
        value.number = 1;
        if (is("true")) return;
        value.kind = JsonValue::Kind::number;
        const char* const begin = text_.data() + at_;
        const auto [end, wrong] = std::from_chars(begin, text_.data() + text_.size(), value.number);
        const bool starts_well =
            at_ < text_.size() && (*begin == '-' || (*begin >= '0' && *begin <= '9'));
        if (!starts_well || wrong != std::errc()) fail("expected a value");
        at_ += static_cast<size_t>(end - begin);
    }

    std::string read_text() {
        if (at_ >= text_.size() || text_[at_] != '"') fail("expected a text");
        std::string result;
        for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
            if (text_[at_] != '\\') result += text_[at_];
            else read_escape(result);
        }
        if (at_ >= text_.size()) fail("a text does not end");
        ++at_;
        return result;
    }

    void read_escape(std::string& result) {
        static constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
        const char letter = ++at_ < text_.size() ? text_[at_] : '\0';
        if (letter == 'u') return append_utf8(result, read_code_point());
        const size_t which = letters.find(letter);
        if (which == letters.npos) fail("a wrong escape");
        result += meant[which];
    }

    // `at_` goes from the u to the last digit, as far as for the other escapes.
    uint32_t read_code_point() {
        const uint32_t first = read_four();
        if (first < 0xd800 || first > 0xdbff) return first;
        if (!text_.substr(at_ + 1).starts_with("\\u")) fail("a wrong escape");
        at_ += 2;
        return 0x10000 + ((first - 0xd800) << 10) + ((read_four() - 0xdc00) & 0x3ff);
    }

    uint32_t read_four() {
        uint32_t value = 0;
        const std::string_view digits = text_.substr(std::min(at_ + 1, text_.size()), 4);
        const auto [end, wrong] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
        if (digits.size() < 4 || wrong != std::errc() || end != digits.data() + 4)
            fail("a wrong escape");
        at_ += 4;
        return value;
    }

    static void append_utf8(std::string& text, uint32_t code) {
        const auto put = [&](uint32_t byte) { text += static_cast<char>(byte); };
        if (code < 0x80) return put(code);
        if (code < 0x800) put(0xc0 | code >> 6);
        else {
            if (code < 0x10000) put(0xe0 | code >> 12);
            else {
                put(0xf0 | code >> 18);
                put(0x80 | ((code >> 12) & 0x3f));
            }
            put(0x80 | ((code >> 6) & 0x3f));
        }
        put(0x80 | (code & 0x3f));
    }

    void skip_space() {
        while (at_ < text_.size() &&
               std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
            ++at_;
    }
    char peek() {
        skip_space();
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool take_if(char wanted) {
        if (peek() != wanted) return false;
        ++at_;
        return true;
    }
    void take(char wanted) {
        if (!take_if(wanted)) fail(std::string("expected '") + wanted + "'");
    }
    [[noreturn]] void fail(const std::string& what) const {
        throw std::runtime_error("the configuration is no JSON: " + what + " at character " +
                                 std::to_string(at_ + 1));
    }

    std::string_view text_;
    size_t at_ = 0;
};

}
