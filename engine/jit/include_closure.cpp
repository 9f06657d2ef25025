#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/jit/jit.h"
#include "engine/jit/scan.h"

#include <set>

namespace nacelle {
namespace {

// The names in the lines #include "name".
std::vector<std::string> quoted_includes(std::string_view text) {
    const auto [plain, code] = scan_text(text);
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

class Closure final {
public:
    void add(const std::filesystem::path& path, std::string text) {
        const size_t place = files_.size();
        files_.push_back({path, std::move(text)});
        for (const std::string& name : quoted_includes(files_[place].text))
            follow((files_[place].path.parent_path() / name).lexically_normal());
    }

    void seen(const std::filesystem::path& path) { seen_.insert(canonical(path)); }
    std::vector<SourceFile> take() { return std::move(files_); }

private:
    static std::filesystem::path canonical(const std::filesystem::path& path) {
        std::error_code trouble;
        const auto result = std::filesystem::weakly_canonical(path, trouble);
        return trouble ? path : result;
    }

    // What cannot be read is left out: it may be the SDK's, or the compiler will say it.
    void follow(const std::filesystem::path& path) {
        std::error_code trouble;
        if (!std::filesystem::is_regular_file(path, trouble) ||
            !seen_.insert(canonical(path)).second)
            return;
        try {
            add(path, read_file(path));
        } catch (const Error&) {}
    }

    std::vector<SourceFile> files_;
    std::set<std::filesystem::path> seen_;
};

}

std::vector<SourceFile> read_closure(const std::filesystem::path& author) {
    const std::filesystem::path path = std::filesystem::absolute(author).lexically_normal();
    Closure closure;
    closure.seen(path);
    closure.add(path, read_file(path));
    return closure.take();
}

std::vector<std::filesystem::path> include_closure(const std::filesystem::path& author) {
    std::vector<std::filesystem::path> paths;
    for (SourceFile& file : read_closure(author)) paths.push_back(std::move(file.path));
    return paths;
}

}
