#include "tests/sdk/accepted.h"
#include "tests/support/skip.h"
#include "tests/support/thorough.h"

#include <doctest/doctest.h>
#include <map>

using namespace nacelle;
using namespace nacelle::test;

namespace {

std::unique_ptr<Compiler> nvrtc(const std::string& architecture) {
    try {
        return open_nvrtc(architecture, shared_cache());
    } catch (const Error&) {
        return nullptr;
    }
}

Binary built(Compiler& compiler, const std::filesystem::path& author) {
    Compiled result = compiler.compile(stepwise_program(author));
    if (const auto* const wrong = std::get_if<Diagnostics>(&result))
        throw std::runtime_error(wrong->text());
    return std::get<Binary>(std::move(result));
}
Binary built(Compiler& compiler, const std::string& name) {
    return built(compiler, env_folder / (name + ".cu"));
}

}

TEST_CASE("the table of an environment is the same in a cubin and in a shared object, byte for "
          "byte but for its launch" *
          test::thorough()) {
    const auto device = nvrtc("sm_90");
    if (!device) NACELLE_SKIP("NVRTC is not here");
    const auto host = uninstrumented_compiler();
    for (const std::string& name : all_environments()) {
        CAPTURE(name);
        const Binary cubin = built(*device, name), library = built(*host, name);
        const std::string table = symbol_of(cubin, "nacelle_schema");
        CHECK(table.size() > sizeof(Header));
        CHECK((without_launch(table) == without_launch(symbol_of(library, "nacelle_schema"))));
        CHECK((defaults_of(cubin) == defaults_of(library)));
        const EnvSchema schema = EnvSchema::read(cubin.elf(), name);
        CHECK(schema.find("terminated") != nullptr);
        CHECK(schema.header().fields == schema.fields().size());
    }
}

TEST_CASE(
    "every environment compiles for a GPU, one of each kind for the oldest, a team for all that we "
    "name" *
    test::thorough()) {
    if (!nvrtc("sm_90")) NACELLE_SKIP("NVRTC is not here");
    // What is said for an architecture alone is about teams: how many blocks they have, and what they share.
    const std::map<std::string, std::vector<std::string>> named = {
        {"sm_75", {"cartpole", "connect_four", "mazes", "tag_gridworld"}},
        {"sm_80", {"tag_gridworld"}},
        {"sm_90", all_environments()},
        {"sm_100", {"tag_gridworld"}}};
    for (const auto& one : named) {
        const std::string& architecture = one.first;
        const auto compiler = nvrtc(architecture);
        CAPTURE(architecture);
        REQUIRE(compiler != nullptr);
        for (const std::string& name : one.second) {
            CAPTURE(name);
            const Binary cubin = built(*compiler, name);
            CHECK(cubin.warnings == "");
            CHECK(symbol_of(cubin, "nacelle_schema").size() > sizeof(Header));
            CHECK(symbol_of(cubin, "nacelle_waits_nacelle_step").size() == 1);
        }
    }
}

TEST_CASE("teams of thousands that see much take no more shared memory than an architecture has" *
          test::thorough()) {
    if (!nvrtc("sm_90")) NACELLE_SKIP("NVRTC is not here");
    struct Architecture {
        const char* name;
        uint32_t kibibytes;
    };
    const std::vector<Architecture> architectures = {
        {"sm_75", 64}, {"sm_80", 163}, {"sm_86", 99}, {"sm_90", 227}};
    // 65 numbers a row, 32 rows a warp, 32 warps: 260 KiB.
    const Folder folder;
    const std::filesystem::path author =
        folder.write("probe.cu", TeamParts{.constants = "static constexpr int agents = 4096;",
                                           .obs = "float some[60], others[5];"}
                                     .text());
    for (const Architecture& one : architectures) {
        const auto compiler = nvrtc(one.name);
        CAPTURE(one.name);
        REQUIRE(compiler != nullptr);
        const Header header = EnvSchema::read(built(*compiler, author).elf(), "probe").header();
        CHECK(header.shared_bytes > one.kibibytes * 1024 / 2);
        CHECK(header.shared_bytes <= one.kibibytes * 1024);
    }
}
