#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/jit/author_source.h"

#include <algorithm>
#include <set>

namespace nacelle {
namespace {

struct Includes {
    std::vector<std::string> quoted, angled;
    bool others = false;    // where only a compiler knows what is read
};

// The text as a compiler reads it: without a byte order mark, and lines joined that end with a backslash.
std::string joined_lines(std::string_view text) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    std::string joined;
    for (size_t at = 0; at < text.size(); ++at) {
        const size_t end = text[at] == '\\' ? text.find_first_not_of('\r', at + 1) : text.npos;
        if (end < text.size() && text[end] == '\n') at = end;
        else joined += text[at];
    }
    return joined;
}

size_t hash_length(std::string_view line) {
    for (const std::string_view hash : {"#", "%:", "?\?="})
        if (line.starts_with(hash)) return hash.size();
    return 0;
}

// An assembler's directives read files, too.
bool reads_by_assembler(std::string_view text) {
    return text.find(".incbin") != text.npos || text.find(".include") != text.npos;
}

// What the lines #include "name" and #include <name> name.
Includes includes_of(std::string_view text) {
    static const std::set<std::string_view> reads_nothing = {
        "define",   "undef", "if",    "ifdef", "ifndef", "elif",    "elifdef",
        "elifndef", "else",  "endif", "line",  "error",  "warning", "pragma"};
    constexpr const char* spaces = " \t\r\f\v";
    const MaskedText masked = mask_comments(joined_lines(text));
    const std::string &plain = masked.plain, &code = masked.code;
    Includes found{.others = code.find("__has_include") != code.npos ||
                             code.find("__has_embed") != code.npos || reads_by_assembler(text)};
    for (size_t begin = 0, end = 0; begin < code.size(); begin = end + 1) {
        end = std::min(code.find('\n', begin), code.size());
        const auto skip_spaces = [&](size_t at) {
            return std::min(code.find_first_not_of(spaces, at), end);
        };
        const size_t hash = skip_spaces(begin);
        const size_t length = hash_length(std::string_view(code).substr(hash, end - hash));
        if (length == 0) continue;
        const size_t word = skip_spaces(hash + length);
        size_t behind = word;
        while (behind < end && is_word(code[behind])) ++behind;
        const std::string_view directive = std::string_view(code).substr(word, behind - word);
        if (reads_nothing.contains(directive)) continue;
        const size_t open = skip_spaces(behind);
        const bool quotes = open < end && code[open] == '"';
        const size_t close = quotes || (open < end && code[open] == '<')
                                 ? code.find(quotes ? '"' : '>', open + 1)
                                 : code.npos;
        if (directive == "include" && close < end)
            (quotes ? found.quoted : found.angled)
                .push_back(plain.substr(open + 1, close - open - 1));
        else found.others = true;
    }
    return found;
}

// Standard headers, which come with a compiler.
bool is_standard(const std::string& name) {
    static const std::set<std::string> standard = {
        "algorithm",  "array",       "assert.h",      "atomic",
        "bit",        "bitset",      "cassert",       "cctype",
        "cerrno",     "cfloat",      "charconv",      "chrono",
        "cinttypes",  "climits",     "cmath",         "compare",
        "complex",    "concepts",    "cstdarg",       "cstddef",
        "cstdint",    "cstdio",      "cstdlib",       "cstring",
        "ctime",      "ctype.h",     "deque",         "errno.h",
        "exception",  "float.h",     "functional",    "initializer_list",
        "inttypes.h", "iostream",    "iterator",      "limits",
        "limits.h",   "list",        "map",           "math.h",
        "memory",     "mutex",       "new",           "numbers",
        "numeric",    "optional",    "queue",         "random",
        "ranges",     "ratio",       "set",           "span",
        "sstream",    "stdarg.h",    "stddef.h",      "stdexcept",
        "stdint.h",   "stdio.h",     "stdlib.h",      "string",
        "string.h",   "string_view", "thread",        "time.h",
        "tuple",      "type_traits", "unordered_map", "unordered_set",
        "utility",    "variant",     "vector",        "version"};
    return standard.contains(name);
}

// The path of an included file. The compiler follows a link before it goes up from there.
std::filesystem::path included(const std::filesystem::path& folder, const std::string& name) {
    std::filesystem::path at = folder;
    std::error_code ignored;
    bool linked = false;
    for (const auto& part : std::filesystem::path(name)) {
        if (part == ".." && linked) return folder / name;
        at /= part;
        linked = linked || std::filesystem::is_symlink(at, ignored);
    }
    return at.lexically_normal();
}

// Whether an included file can be read; otherwise it may be a header of the SDK, or the compiler reports it. A pipe
// is left out, since a compiler would wait for it forever.
bool can_be_followed(const std::filesystem::path& path) {
    std::error_code trouble;
    const std::filesystem::file_status status = std::filesystem::status(path, trouble);
    if (!std::filesystem::exists(status) || std::filesystem::is_directory(status)) return false;
    if (!std::filesystem::is_regular_file(status))
        throw Error(path.string(), "is no plain file, and cannot be included");
    return true;
}

}

// The includes of a file follow it in their order, before its next sibling.
std::vector<SourceFile> read_closure(const std::filesystem::path& author) {
    if (author.empty()) return {};
    const std::filesystem::path path = std::filesystem::absolute(author).lexically_normal();
    std::vector<SourceFile> files;
    std::set<std::filesystem::path> seen;
    std::vector<std::filesystem::path> ahead;    // the next one last
    size_t bytes = 0;
    const auto add = [&](const std::filesystem::path& file, std::string text) {
        bytes += text.size();
        if (bytes > most_of_a_plain_file)
            throw Error(path.string(), "has, with what it includes, more than 64 MiB");
        const std::vector<std::string> names = includes_of(text).quoted;
        files.push_back({file, std::move(text)});
        for (auto name = names.rbegin(); name != names.rend(); ++name)
            ahead.push_back(included(file.parent_path(), *name));
    };
    seen.insert(resolved_path(path));
    add(path, read_plain_file(path));
    while (!ahead.empty()) {
        const std::filesystem::path next = std::move(ahead.back());
        ahead.pop_back();
        if (!can_be_followed(next) || !seen.insert(resolved_path(next)).second) continue;
        std::error_code gone;
        if (std::filesystem::file_size(next, gone) > most_of_a_plain_file && !gone)
            throw Error(next.string(), "has more than 64 MiB, and cannot be included");
        std::string text;
        try {
            text = read_plain_file(next);
        } catch (const Error&) {
            continue;    // gone since, or the compiler will say why it cannot be read
        }
        add(next, std::move(text));
    }
    return files;
}

std::vector<std::filesystem::path> absent_includes(const std::vector<SourceFile>& files) {
    std::vector<std::filesystem::path> absent;
    std::error_code ignored;
    for (const SourceFile& file : files)
        for (const std::string& name : includes_of(file.text).quoted)
            if (const auto path = included(file.path.parent_path(), name);
                !std::filesystem::exists(path, ignored))
                absent.push_back(path);
    return absent;
}

bool is_self_contained(const std::vector<SourceFile>& closure,
                       const std::set<std::string>& carried) {
    const auto is_known = [&](const std::string& name) {
        return carried.contains(name) || is_standard(name);
    };
    return std::ranges::all_of(closure, [&](const SourceFile& file) {
        const Includes includes = includes_of(file.text);
        return !includes.others && std::ranges::all_of(includes.angled, is_known) &&
               std::ranges::all_of(includes.quoted, [&](const std::string& name) {
                   return can_be_followed(included(file.path.parent_path(), name)) ||
                          is_known(name);
               });
    });
}

const SourceFile* find_file(const std::vector<SourceFile>& files,
                            const std::filesystem::path& path) {
    const auto found = std::ranges::find(files, path, &SourceFile::path);
    return found == files.end() ? nullptr : &*found;
}

bool same_text(const std::vector<SourceFile>& a, const std::vector<SourceFile>& b) {
    return std::ranges::equal(a, b, [](const SourceFile& x, const SourceFile& y) {
        return x.path == y.path && x.text == y.text;
    });
}

}
