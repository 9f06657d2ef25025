#include "algorithms/common/headers.h"
#include "algorithms/replay/headers.h"
#include "algorithms/replay/replay.h"
#include "engine/compile/stand_in.h"
#include "tests/env/workbench.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>

// The programs of a replay, by NVRTC, which needs no GPU.
using namespace nacelle;
using namespace nacelle::test;

TEST_CASE("a replay's programs compile for GPUs") {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the compiler for GPUs is not instrumented: the plain build has it");
#endif
    std::unique_ptr<Compiler> compiler;
    try {
        compiler = open_nvrtc("sm_90a", shared_cache());
    } catch (const Error& error) {
        NACELLE_SKIP(error.what());
    }
    for (const char* const name : {"cartpole", "pendulum", "rooms"}) {
        CAPTURE(name);
        const std::filesystem::path author = env_folder / (std::string(name) + ".cu");
        Environment env(quick_cpu(1), recommended(name, 4));
        const Folder folder;
        ProgramSource source{.author = author,
                             .headers = {},
                             .instantiation = {},
                             .defines = {},
                             .options = {"--prec-div=false"}};
        for (const EmbeddedFile& header : embedded_sdk())
            source.headers.push_back({header.name, header.text});
        for (const nacelle_header& header : learn::kernel_headers())
            source.headers.push_back({header.name, header.text});
        for (const nacelle_header& header : replay::kernel_headers())
            source.headers.push_back({header.name, header.text});
        const replay::ProgramTexts programs = replay::program_texts(true);
        const auto fault = [&](const std::filesystem::path& around, const std::string& text) {
            source.author = around;
            source.instantiation = text;
            const Compiled result = compiler->compile(source);
            const auto* const wrong = std::get_if<Diagnostics>(&result);
            return wrong ? wrong->text() + wrong->raw : "";
        };
        CHECK(fault(author, programs.of_author.text) == "");
        CHECK(fault(folder.write("sizes.cu", stand_in_text(env.schema())),
                    programs.of_sizes.text) == "");
    }
}
