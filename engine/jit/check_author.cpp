#include "engine/jit/author_mistakes.h"
#include "engine/jit/diagnostics.h"

namespace nacelle {
namespace {

Diagnostics single(const std::filesystem::path& file, int line, std::string message,
                   std::string excerpt = {}) {
    Diagnostics result;
    result.list.push_back({file.string(), line, std::move(message), std::move(excerpt)});
    return result;
}

}

std::optional<Diagnostics> check_author(const std::vector<SourceFile>& closure) {
    const SourceFile& author = closure.front();
    for (const SourceFile& file : closure)
        if (const size_t nul = file.text.find('\0'); nul != file.text.npos)
            return single(file.path, line_at(file.text, nul), "this is no text: it has NUL bytes");
    if (author.text.find_first_not_of(" \t\r\n") == std::string::npos)
        return single(author.path, 0, "the file is empty");

    const std::vector<EnvironmentUse> uses = environment_uses(closure);
    if (uses.empty()) return single(author.path, 0, explain(AuthorMistake::no_environment));
    const EnvironmentUse* first = nullptr;
    for (const EnvironmentUse& use : uses) {
        if (use.conditional) continue;
        if (!first) {
            first = &use;
            continue;
        }
        const SourceFile* file = find_file(closure, use.file);
        return single(use.file, use.line,
                      explain(AuthorMistake::two_environments) + ": " + first->name + " and " +
                          use.name,
                      file ? line_text(file->text, use.line) : "");
    }
    return std::nullopt;
}

}
