#include "engine/jit/author_source.h"

#include <algorithm>
#include <cctype>

namespace nacelle {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Scanner final {
public:
    explicit Scanner(std::string_view text)
        : text_(text), result_{std::string(text), std::string(text)} {}

    MaskedText scan() {
        while (at_ < text_.size()) {
            if (starts("//")) line_comment();
            else if (starts("/*")) block_comment();
            else if (text_[at_] == '"') quoted('"');
            else if (text_[at_] == '\'') quoted('\'');
            else if (is_digit(text_[at_])) number();
            else if (is_word(text_[at_])) word();
            else ++at_;
        }
        return std::move(result_);
    }

private:
    bool starts(std::string_view what) const { return text_.substr(at_, what.size()) == what; }

    void blank(std::string& target, size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i)
            if (target[i] != '\n') target[i] = ' ';
    }

    void comment(size_t end) {
        end = std::min(end, text_.size());
        blank(result_.plain, at_, end);
        blank(result_.code, at_, end);
        at_ = end;
    }

    void line_comment() {
        size_t end = text_.find('\n', at_);
        while (end != text_.npos) {
            const size_t before = end > 0 && text_[end - 1] == '\r' ? end - 1 : end;
            if (before == 0 || text_[before - 1] != '\\') break;
            end = text_.find('\n', end + 1);
        }
        comment(end);
    }

    void block_comment() {
        const size_t end = text_.find("*/", at_ + 2);
        comment(end == text_.npos ? end : end + 2);
    }

    // A string or a character; an unclosed one ends with its line.
    void quoted(char quote) {
        size_t end = at_ + 1;
        while (end < text_.size() && text_[end] != quote && text_[end] != '\n')
            end += text_[end] == '\\' && end + 1 < text_.size() ? 2u : 1u;
        end = std::min(end, text_.size());
        blank(result_.code, at_ + 1, end);
        at_ = end + (end < text_.size() && text_[end] == quote ? 1 : 0);
    }

    void raw_string() {
        constexpr size_t longest_delimiter = 16;
        const size_t before = text_.substr(at_, longest_delimiter + 2).find('(');
        if (before == text_.npos) {
            ++at_;
            return;
        }
        const size_t open = at_ + before;
        const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
        const size_t found = text_.find(close, open);
        const size_t end = found == text_.npos ? text_.size() : found + close.size();
        blank(result_.code, at_ + 1, end - (found == text_.npos ? 0 : 1));
        at_ = end;
    }

    // A number with digit separators: 1'000 contains no character.
    void number() {
        while (at_ < text_.size() &&
               (is_word(text_[at_]) || text_[at_] == '.' ||
                (text_[at_] == '\'' && at_ + 1 < text_.size() && is_word(text_[at_ + 1]))))
            ++at_;
    }

    void word() {
        const size_t begin = at_;
        while (at_ < text_.size() && is_word(text_[at_])) ++at_;
        const std::string_view name = text_.substr(begin, at_ - begin);
        const bool raw =
            name == "R" || name == "u8R" || name == "uR" || name == "UR" || name == "LR";
        if (raw && at_ < text_.size() && text_[at_] == '"') raw_string();
    }

    std::string_view text_;
    MaskedText result_;
    size_t at_ = 0;
};

size_t skip_space(std::string_view text, size_t at, std::string_view space = " \t\r\n") {
    return std::min(text.find_first_not_of(space, at), text.size());
}

std::string_view trimmed(std::string_view text) {
    const size_t begin = text.find_first_not_of(" \t\r\n");
    return begin == text.npos ? std::string_view{}
                              : text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// The next position where `word` is a whole word.
size_t find_word(std::string_view code, std::string_view word, size_t from) {
    for (size_t at = code.find(word, from); at != code.npos; at = code.find(word, at + 1)) {
        const size_t after = at + word.size();
        if ((at == 0 || !is_word(code[at - 1])) && (after == code.size() || !is_word(code[after])))
            return at;
    }
    return code.npos;
}

// The parenthesis that closes the one at `open`, or the text's end; the search is limited to the length of a
// plausible call.
size_t closing(std::string_view code, size_t open) {
    constexpr size_t furthest = 4096;
    code = code.substr(0, std::min(code.size(), open + furthest));
    int depth = 0;
    for (size_t i = open; i < code.size(); ++i) {
        if (code[i] == '(') ++depth;
        if (code[i] == ')' && --depth == 0) return i;
    }
    return code.size();
}

// nacelle::constant or plain constant, but neither a member nor a name in another namespace.
bool is_ours(std::string_view code, size_t at) {
    const std::string_view before =
        trimmed(code.substr(at - std::min<size_t>(at, 256), std::min<size_t>(at, 256)));
    if (before.ends_with("::"))
        return trimmed(before.substr(0, before.size() - 2)).ends_with("nacelle");
    return !before.ends_with('.') && !before.ends_with("->");
}

void find_constants(const SourceFile& file, std::vector<ConstantUse>& found) {
    const auto [plain, code] = mask_comments(file.text);
    int line = 1;
    size_t counted = 0;    // up to where lines are
    for (size_t at = find_word(code, "constant", 0); at != code.npos;
         at = find_word(code, "constant", at + 1)) {
        line += line_at(std::string_view(code).substr(counted), at - counted) - 1;
        counted = at;
        const size_t open = skip_space(code, at + 8);
        if (open == code.size() || code[open] != '(' || !is_ours(code, at)) continue;
        const size_t name = skip_space(code, open + 1);
        if (name == code.size() || code[name] != '"') continue;
        const size_t name_end = code.find('"', name + 1);
        if (name_end == code.npos) continue;
        const size_t comma = skip_space(code, name_end + 1), end = closing(code, open);
        if (comma >= end || code[comma] != ',') continue;
        found.push_back(
            {plain.substr(name + 1, name_end - name - 1),
             std::string(trimmed(std::string_view(plain).substr(comma + 1, end - comma - 1))),
             file.path, line});
    }
}

void find_environments(const SourceFile& file, std::vector<EnvironmentUse>& found) {
    const std::string code = mask_comments(file.text).code;
    int depth = 0;
    size_t line_begin = 0, at = find_word(code, "NACELLE_ENV", 0);
    for (int line = 1; line_begin < code.size() && at != code.npos; ++line) {
        const size_t end = std::min(code.find('\n', line_begin), code.size());
        const std::string_view text =
            trimmed(std::string_view(code).substr(line_begin, end - line_begin));
        if (text.starts_with('#')) {
            const std::string_view directive = trimmed(text.substr(1));
            if (directive.starts_with("if")) ++depth;
            if (directive.starts_with("endif")) --depth;
        }
        for (; at < end; at = find_word(code, "NACELLE_ENV", at + 1)) {
            const size_t open = skip_space(code, at + 11);
            if (text.starts_with('#') || open == code.size() || code[open] != '(') continue;
            const size_t close = closing(code, open);
            found.push_back(
                {std::string(trimmed(std::string_view(code).substr(open + 1, close - open - 1))),
                 file.path, line, depth > 0});
        }
        line_begin = end + 1;
    }
}

}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

MaskedText mask_comments(std::string_view text) { return Scanner(text).scan(); }

std::vector<ConstantUse> constants_of(const std::filesystem::path& author) {
    std::vector<ConstantUse> found;
    for (const SourceFile& file : read_closure(author)) find_constants(file, found);
    return found;
}

std::vector<EnvironmentUse> environment_uses(const std::vector<SourceFile>& closure) {
    std::vector<EnvironmentUse> found;
    for (const SourceFile& file : closure) find_environments(file, found);
    return found;
}

int line_at(std::string_view text, size_t place) {
    return 1 + static_cast<int>(std::count(
                   text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place), '\n'));
}

std::string line_text(std::string_view text, int line) {
    size_t begin = 0;
    for (int i = 1; i < line && begin < text.size(); ++i) {
        const size_t end = text.find('\n', begin);
        if (end == text.npos) return {};
        begin = end + 1;
    }
    if (line < 1 || begin >= text.size()) return {};
    std::string_view found = text.substr(begin, text.find('\n', begin) - begin);
    if (found.ends_with('\r')) found.remove_suffix(1);
    return std::string(found);
}

}
