#include "engine/base/npy_header.h"

#include "engine/base/error.h"

#include <charconv>

namespace nacelle {
namespace {

// Reads the few forms of Python literals that NumPy writes.
class Reader final {
public:
    Reader(std::string_view text, const std::string& where) : text_(text), where_(where) {}

    [[noreturn]] void fail() const { throw Error(where_, "has a damaged .npy header"); }

    // Skips blanks, then takes the letter if it is next.
    bool take(char letter) {
        while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n')) text_.remove_prefix(1);
        if (text_.empty() || text_[0] != letter) return false;
        text_.remove_prefix(1);
        return true;
    }

    void expect(char letter) {
        if (!take(letter)) fail();
    }

    bool take_word(std::string_view word) {
        if (!text_.starts_with(word)) return false;
        text_.remove_prefix(word.size());
        return true;
    }

    std::string quoted() {
        const char quote = take('"') ? '"' : '\'';
        if (quote == '\'') expect('\'');
        const size_t end = text_.find(quote);
        if (end == text_.npos) fail();
        const std::string result(text_.substr(0, end));
        text_.remove_prefix(end + 1);
        return result;
    }

    // Skips a text or a list: only its presence matters.
    std::string type() {
        if (!take('[')) return "'" + quoted() + "'";
        std::string list = "[";
        for (int depth = 1; depth > 0; text_.remove_prefix(1)) {
            if (text_.empty()) fail();
            list += text_[0];
            if (text_[0] == '[') ++depth;
            if (text_[0] == ']') --depth;
        }
        return list;
    }

    bool boolean() {
        take(' ');
        if (take_word("True")) return true;
        if (!take_word("False")) fail();
        return false;
    }

    std::vector<int64_t> sizes() {
        std::vector<int64_t> result;
        expect('(');
        while (!take(')')) {
            int64_t size = 0;
            const auto [end, error] =
                std::from_chars(text_.data(), text_.data() + text_.size(), size);
            if (error != std::errc() || size < 0) fail();
            text_.remove_prefix(static_cast<size_t>(end - text_.data()));
            take('L');    // Python 2 wrote long integers so
            result.push_back(size);
            if (!take(',')) {
                expect(')');
                break;
            }
        }
        return result;
    }

private:
    std::string_view text_;
    const std::string& where_;
};

}

NpyHeader parse_npy_header(std::string_view text, const std::string& where) {
    NpyHeader header;
    bool has_type = false, has_order = false, has_shape = false;
    Reader reader(text, where);
    reader.expect('{');
    while (!reader.take('}')) {
        const std::string key = reader.quoted();
        reader.expect(':');
        if (key == "descr") header.descr = reader.type(), has_type = true;
        else if (key == "fortran_order") header.fortran_order = reader.boolean(), has_order = true;
        else if (key == "shape") header.shape = reader.sizes(), has_shape = true;
        else reader.fail();
        if (!reader.take(',')) {
            reader.expect('}');
            break;
        }
    }
    if (!has_type || !has_order || !has_shape) reader.fail();
    return header;
}

}
