#include "engine/compile/compile_program.h"

#include "engine/base/error.h"
#include "engine/compile/embedded_sdk.h"

#include <algorithm>

namespace nacelle {
namespace {

// "file:line: error: ...", with the line of the file below.
Error as_error(const Diagnostics& wrong) {
    std::string text = wrong.text();
    while (text.ends_with('\n')) text.pop_back();
    const size_t split = text.find(": ");
    if (split == std::string::npos) return Error("compiler", text);
    return Error(text.substr(0, split), text.substr(split + 2));
}

}

std::vector<std::string> gpu_arithmetic(bool strict) {
    if (strict) return {"--fmad=false", "--prec-div=true", "--prec-sqrt=true"};
    return {"--prec-div=false"};
}

ProgramSource program_source(const RunsOn& on, const std::filesystem::path& author,
                             const ProgramText& text, const CompileWay& way) {
    ProgramSource source{.author = author,
                         .copy_of = way.copy_of,
                         .headers = {},
                         .instantiation = text.instantiation,
                         .defines = text.defines,
                         .options = text.options,
                         .draft = way.draft,
                         .aside = way.aside,
                         .given_by = text.given_by,
                         .given_headers = text.headers.size()};
    const bool strict = std::ranges::find(text.defines, strict_define) != text.defines.end();
    if (on.cuda()) source.options = gpu_arithmetic(strict);
    for (const EmbeddedFile& header : embedded_sdk())
        source.headers.push_back({header.name, header.text});
    source.headers.insert(source.headers.end(), text.headers.begin(), text.headers.end());
    return source;
}

Binary compile_program(RunsOn& on, const std::filesystem::path& author, const ProgramText& text,
                       const CompileWay& way) {
    Compiled compiled = on.compiler->compile(program_source(on, author, text, way), way.cancel);
    if (const auto* const wrong = std::get_if<Diagnostics>(&compiled)) throw as_error(*wrong);
    return std::get<Binary>(std::move(compiled));
}

}
