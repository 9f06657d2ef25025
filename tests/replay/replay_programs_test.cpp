#include "algorithms/off_policy/programs.h"
#include "algorithms/replay/replay.h"
#include "engine/compile/stand_in.h"
#include "tests/env/workbench.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>

// The programs of a replay and of what learns from it, by NVRTC, which needs no GPU.
using namespace nacelle;
using namespace nacelle::test;

namespace {

template <class Fn> void with_gpu_compiler(Fn&& fn) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the compiler for GPUs is not instrumented: the plain build has it");
#endif
    std::unique_ptr<Compiler> compiler;
    try {
        compiler = open_nvrtc("sm_90a", shared_cache());
    } catch (const Error& error) {
        NACELLE_SKIP(error.what());
    }
    fn(*compiler);
}
ProgramSource source_of(const std::vector<nacelle_header>& headers) {
    ProgramSource source{.author = {},
                         .headers = {},
                         .instantiation = {},
                         .defines = {},
                         .options = {"--prec-div=false"}};
    for (const EmbeddedFile& header : embedded_sdk())
        source.headers.push_back({header.name, header.text});
    for (const nacelle_header& header : headers)
        source.headers.push_back({header.name, header.text});
    return source;
}
std::string fault(Compiler& compiler, ProgramSource source, const std::filesystem::path& author,
                  const std::string& text) {
    source.author = author;
    source.instantiation = text;
    const Compiled result = compiler.compile(source);
    const auto* const wrong = std::get_if<Diagnostics>(&result);
    return wrong ? wrong->text() + wrong->raw : "";
}

}

TEST_CASE("a replay's programs compile for GPUs") {
    with_gpu_compiler([](Compiler& compiler) {
        const ProgramSource source = source_of(off_policy::all_headers());
        const replay::ProgramTexts programs = replay::program_texts(true);
        for (const char* const name : {"cartpole", "pendulum", "rooms"}) {
            CAPTURE(name);
            const std::filesystem::path author = env_folder / (std::string(name) + ".cu");
            Environment env(quick_cpu(1), recommended(name, 4));
            const Folder folder;
            const auto sizes = folder.write("sizes.cu", stand_in_text(env.schema()));
            CHECK(fault(compiler, source, author, programs.of_author.text) == "");
            CHECK(fault(compiler, source, sizes, programs.of_sizes.text) == "");
        }
    });
}
TEST_CASE("programs of networks that learn from a replay compile for GPUs") {
    with_gpu_compiler([](Compiler& compiler) {
        Environment env(quick_cpu(1), recommended("pendulum", 4));
        const Folder folder;
        const auto sizes = folder.write("sizes.cu", stand_in_text(env.schema()));
        const ProgramSource source = source_of(off_policy::all_headers());
        const std::string text =
            off_policy::program_text({.on_gpu = true, .planes = 1}, "gelu").text;
        CHECK(fault(compiler, source, sizes, text) == "");
        CHECK(fault(compiler, source, sizes,
                    "#define LEARN_RANKS 2\n#define LEARN_PEERS 1\n" + text) == "");
    });
}
