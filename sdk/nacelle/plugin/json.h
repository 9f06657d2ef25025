#pragma once
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>
// A reader of JSON with errors for people: the host's, and that of plugins which bring no library of their own.

namespace nacelle::plugin {

struct JsonValue {
    enum class Kind { null, flag, number, text, list, object };
    Kind kind = Kind::null;
    double number = 0;    // of a flag: 0 or 1
    std::string text;
    std::vector<JsonValue> list;      // of a list, or the values of an object
    std::vector<std::string> keys;    // of an object, in the order of its values
};

// What is wrong, and before which byte; `whole` where it is wrong at no single place.
class JsonError final : public std::runtime_error {
public:
    static constexpr size_t whole = ~size_t(0);
    JsonError(const std::string& what, size_t at) : std::runtime_error(what), at_(at) {}
    size_t at() const { return at_; }

private:
    size_t at_;
};

// Throws a JsonError for the first thing that is wrong: in the grammar, a key that stands twice in one object, a NUL
// byte, and nesting without measure, which those who copy a value could not follow.
class JsonReader final {
public:
    static constexpr size_t most_depth = 100;

    explicit JsonReader(std::string_view text) : text_(text) {}

    JsonValue whole() {
        if (const size_t nul = text_.find('\0'); nul != text_.npos) fail("a NUL byte", nul);
        if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;    // a byte order mark
        JsonValue value = read();
        if (skip_space(); at_ != text_.size()) wrong("the end of the file");
        return value;
    }

private:
    struct Level {
        char end;
        std::string key;
    };

    JsonValue read() {
        skip_space();
        const char first = peek();
        if (first == '{' || first == '[') return read_within(first);
        JsonValue value;
        if (first == '"') {
            value.kind = JsonValue::Kind::text;
            value.text = read_text();
            if (value.text.find('\0') != value.text.npos)
                fail("'" + path() + "' holds \\u0000", JsonError::whole);
        } else read_word(value);
        return value;
    }

    JsonValue read_within(char first) {
        if (levels_.size() == most_depth)
            fail("nested deeper than " + std::to_string(most_depth) + " levels", at_);
        JsonValue value;
        const bool object = first == '{';
        value.kind = object ? JsonValue::Kind::object : JsonValue::Kind::list;
        levels_.push_back({object ? '}' : ']', {}});
        const char end = levels_.back().end;
        std::set<std::string> keys;
        ++at_;
        if (skip_space(); peek() != end)
            for (;;) {
                if (object) value.keys.push_back(read_key(keys));
                value.list.push_back(read());
                if (skip_space(); peek() != ',') break;
                ++at_;
                if (skip_space(); peek() == end)
                    fail(std::string("a comma too much before '") + end + "'", at_);
            }
        if (peek() != end) wrong(std::string("',' or '") + end + "'");
        ++at_;
        levels_.pop_back();
        return value;
    }

    std::string read_key(std::set<std::string>& keys) {
        if (skip_space(); peek() != '"') wrong("a key in double quotes");
        std::string key = read_text();
        if (key.find('\0') != key.npos) fail("a key holds \\u0000", JsonError::whole);
        levels_.back().key = key;
        if (!keys.insert(key).second) fail("'" + path() + "' stands twice", JsonError::whole);
        if (skip_space(); peek() != ':') wrong("':' after the key");
        ++at_;
        return key;
    }

    void read_word(JsonValue& value) {
        const std::string_view word = text_.substr(at_, word_end() - at_);
        if (word == "true" || word == "false") {
            value.kind = JsonValue::Kind::flag;
            value.number = word == "true";
        } else if (is_number(word)) {
            value.kind = JsonValue::Kind::number;
            const auto result =
                std::from_chars(word.data(), word.data() + word.size(), value.number);
            // What is too small for a number is 0.
            const size_t e = word.find_first_of("eE");
            const bool tiny =
                e != word.npos ? word[e + 1] == '-' : word.find("0.") == (word[0] == '-');
            if (result.ec != std::errc() && !tiny) fail("the number is too large", at_);
        } else if (word != "null") wrong("a value");
        at_ += word.size();
    }

    static bool is_number(std::string_view word) {
        const auto digits = [&] {
            const size_t count = std::min(word.find_first_not_of("0123456789"), word.size());
            word.remove_prefix(count);
            return count;
        };
        const auto take = [&](std::string_view any) {
            const bool is = !word.empty() && any.find(word.front()) != any.npos;
            word.remove_prefix(is);
            return is;
        };
        take("-");
        const bool zero = word.starts_with('0');
        if (const size_t count = digits(); count == 0 || (zero && count > 1)) return false;
        if (take(".") && digits() == 0) return false;
        if (take("eE") && (take("+-"), digits() == 0)) return false;
        return word.empty();
    }

    std::string read_text() {
        std::string result;
        for (++at_; peek() != '"'; ++at_) {
            const char letter = peek();
            if (letter == '\n' || at_ >= text_.size()) fail("a text is not closed with '\"'", at_);
            if (byte() < ' ') fail("a control character in a text", at_);
            if (letter == '\\') read_escape(result);
            else if (byte() >= 0x80) read_utf8(result);
            else result += letter;
        }
        ++at_;
        return result;
    }

    // A character of several bytes, up to its last one.
    void read_utf8(std::string& result) {
        const auto take = [&](unsigned low, unsigned high) {
            if (byte() < low || byte() > high) fail("a text that is not UTF-8", at_);
            result += peek();
        };
        const unsigned first = byte();
        take(0xc2, 0xf4);
        // No character in more bytes than it needs, no half of a pair, none behind the last.
        unsigned low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
        unsigned high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
        for (int left = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3; left > 0; --left) {
            ++at_;
            take(low, high);
            low = 0x80;
            high = 0xbf;
        }
    }

    // `at_` goes from the backslash to the last character of the escape.
    void read_escape(std::string& result) {
        static constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
        ++at_;
        if (peek() == 'u') return append_utf8(result, read_code_point());
        const size_t which = letters.find(peek());
        if (which == letters.npos || at_ >= text_.size()) wrong_escape();
        result += meant[which];
    }
    uint32_t read_code_point() {
        const uint32_t first = read_four();
        if (first < 0xd800 || first > 0xdfff) return first;
        if (first > 0xdbff || !text_.substr(at_ + 1).starts_with("\\u")) wrong_escape();
        at_ += 2;
        const uint32_t second = read_four();
        if (second < 0xdc00 || second > 0xdfff) wrong_escape();
        return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
    }
    // From the u to the last of four digits.
    uint32_t read_four() {
        uint32_t value = 0;
        for (int i = 0; i < 4; ++i) {
            ++at_;
            uint32_t digit = 0;
            const char* const begin = text_.data() + std::min(at_, text_.size());
            const char* const end = text_.data() + std::min(at_ + 1, text_.size());
            if (std::from_chars(begin, end, digit, 16).ec != std::errc()) wrong_escape();
            value = value << 4 | digit;
        }
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

    // 0 at the end, which is in no text: whole() has looked.
    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    unsigned byte() const { return static_cast<unsigned char>(peek()); }
    void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
    // Behind what a person takes for a word or a number.
    size_t word_end() const {
        size_t end = at_;
        for (; end < text_.size(); ++end) {
            const char letter = text_[end];
            const bool in_word = (letter >= '0' && letter <= '9') ||
                                 (letter >= 'a' && letter <= 'z') ||
                                 (letter >= 'A' && letter <= 'Z') ||
                                 std::string_view("_.-+").find(letter) != std::string_view::npos;
            if (!in_word) break;
        }
        return end;
    }
    // The word, number, text or sign that stands here, for a message.
    std::string token() const {
        if (byte() < ' ' || byte() == 0x7f) return "a control character";
        size_t end = std::max(word_end(), at_ + 1);
        if (peek() == '"') end = std::min(text_.find_first_of("\"\n", end), text_.size() - 1) + 1;
        if (byte() >= 0x80)
            while (end < text_.size() && static_cast<unsigned char>(text_[end]) >= 0x80) ++end;
        constexpr size_t shown = 40;
        const std::string_view found = text_.substr(at_, end - at_);
        return std::string(found.substr(0, shown)) + (found.size() > shown ? "..." : "");
    }
    // The keys that lead here.
    std::string path() const {
        std::string path;
        for (const Level& level : levels_)
            if (level.end == '}') path += (path.empty() ? "" : ".") + level.key;
        return path;
    }

    [[noreturn]] void wrong(const std::string& expected) const {
        if (at_ >= text_.size()) {
            if (text_.find_first_not_of(" \t\r\n") == text_.npos) fail("the file is empty", at_);
            if (levels_.empty()) fail("the file ends too early", at_);
            fail(std::string("the file ends before the last '") + levels_.back().end + "'", at_);
        }
        const std::string found = token();
        if (found == "/" || found == "#") fail("comments are no part of JSON", at_);
        fail("expected " + expected + ", found " + found, at_);
    }
    [[noreturn]] void wrong_escape() const {
        fail(R"(a backslash that starts none of \" \\ \/ \b \f \n \r \t \u1234)",
             std::min(at_, text_.size()));
    }
    [[noreturn]] void fail(const std::string& what, size_t at) const { throw JsonError(what, at); }

    std::string_view text_;
    size_t at_ = 0;
    std::vector<Level> levels_;
};

}
