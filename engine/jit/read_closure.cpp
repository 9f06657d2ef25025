#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/jit/author_source.h"

#include <algorithm>
#include <set>

namespace nacelle {
namespace {

// The names in the lines #include "name".
std::vector<std::string> quoted_includes(std::string_view text) {
    const auto [plain, code] = mask_comments(text);
    std::vector<std::string> names;
    for (size_t begin = 0; begin < code.size();) {
        const size_t end = std::min(code.find('\n', begin), code.size());
        size_t at = code.find_first_not_of(" \t", begin);
        if (at < end && code[at] == '#') {
            at = code.find_first_not_of(" \t", at + 1);
            if (at < end && code.compare(at, 7, "include") == 0) {
                const size_t open = code.find_first_not_of(" \t", at + 7);
                if (open < end && code[open] == '"') {
                    const size_t close = code.find('"', open + 1);
                    if (close < end) names.push_back(plain.substr(open + 1, close - open - 1));
                }
            }
        }
        begin = end + 1;
    }
    return names;
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
        const std::vector<std::string> names = quoted_includes(text);
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
