#include "engine/jit/cache.h"
#include "engine/jit/compile_helpers.h"
#include "tests/jit/fixture.h"
#include "tests/support/skip.h"

#include <thread>

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

std::string cache_of(const Place& place) { return (place.path() / "cache").string(); }
std::unique_ptr<Compiler> alone(const Place& place) {
    return nvrtc(std::make_shared<Cache>(cache_of(place)));
}
ProgramSource aside(const Place& place) {
    ProgramSource source = program(place.write("tag.cu", author_text("s.x = s.x * 3.5f + 1;")));
    source.aside = true;
    return source;
}

}

TEST_CASE("a source is the same behind its text, and a broken text is none") {
    const ProgramSource source{.author = "/a b/tag.cu",
                               .headers = {{"nacelle/env.h", "line\nline: 3:4"}, {"empty.h", ""}},
                               .instantiation = "KERNELS()\n",
                               .defines = {"A=1", ""},
                               .options = {},
                               .draft = true};
    const std::string text = text_of(source);
    const auto read = source_from(text);
    REQUIRE(read);
    CHECK(read->author == source.author);
    REQUIRE(read->headers.size() == 2);
    CHECK(read->headers[0].text == source.headers[0].text);
    CHECK(read->headers[1].name == "empty.h");
    CHECK(read->instantiation == source.instantiation);
    CHECK(read->defines == source.defines);
    CHECK(read->options.empty());
    CHECK(read->draft);
    for (size_t size = 0; size < text.size(); ++size) CHECK(!source_from(text.substr(0, size)));
    CHECK(!source_from(text + "x"));
    CHECK(!source_from("99999999999999999999:"));
}

TEST_CASE("what a helper has compiled is in the cache") {
    const Place place;
    const auto compiler = alone(place);
    const std::filesystem::path tool = build_path("tools/nacelle");
    if (!compiler || !std::filesystem::exists(tool)) NACELLE_SKIP("no NVRTC, or no command line");
    CompileHelpers helpers({tool.string(), "compile-helper", cache_of(place)}, 2);
    const ProgramSource source = aside(place);
    helpers.start();
    helpers.compile("sm_90", source, nullptr);
    CHECK(compiled(*compiler, source).from_cache);
    // A second one by the same helpers; and one that does not compile is told by who asked.
    ProgramSource other = source;
    other.defines.push_back("OTHER=1");
    helpers.start();
    helpers.compile("sm_90", other, nullptr);
    CHECK(compiled(*compiler, other).from_cache);
    other.instantiation += "nonsense here;\n";
    helpers.compile("sm_90", other, nullptr);
    CHECK(std::holds_alternative<Diagnostics>(compiler->compile(other)));
}

TEST_CASE("more programs than helpers wait for the next that is free") {
    const Place place;
    const auto compiler = alone(place);
    const std::filesystem::path tool = build_path("tools/nacelle");
    if (!compiler || !std::filesystem::exists(tool)) NACELLE_SKIP("no NVRTC, or no command line");
    CompileHelpers helpers({tool.string(), "compile-helper", cache_of(place)}, 1);
    helpers.start();
    std::vector<ProgramSource> sources(3, aside(place));
    std::vector<std::thread> askers;
    for (size_t i = 0; i < sources.size(); ++i) {
        sources[i].defines.push_back("NUMBER=" + std::to_string(i));
        askers.emplace_back([&, i] { helpers.compile("sm_90", sources[i], nullptr); });
    }
    for (std::thread& asker : askers) asker.join();
    for (const ProgramSource& source : sources) CHECK(compiled(*compiler, source).from_cache);
}

TEST_CASE("a compiler with helpers gets ready for what it does not have") {
    const Place place;
    const auto cache = std::make_shared<Cache>(cache_of(place));
    const auto without = alone(place);
    if (!without) NACELLE_SKIP("no NVRTC");
    const auto with = open_nvrtc(
        "sm_90", cache,
        std::make_shared<CompileHelpers>(std::vector<std::string>{"/bin/sleep", "1000"}, 1));
    const ProgramSource source = program(place.write("tag.cu", author_text("s.x = 4;")));
    CHECK(cache->empty());
    CHECK_FALSE(without->get_ready_beside(source));
    CHECK(with->get_ready_beside(source));
    compiled(*with, source);
    CHECK_FALSE(cache->empty());
    CHECK_FALSE(with->get_ready_beside(source));
}

TEST_CASE("without a helper that works a program is compiled here") {
    const Place place;
    if (!alone(place)) NACELLE_SKIP("no NVRTC");
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"/nowhere/nacelle"}, {"/bin/false"}, {"/bin/echo", "k"}}) {
        const Place other;
        const auto compiler = open_nvrtc("sm_90", std::make_shared<Cache>(cache_of(other)),
                                         std::make_shared<CompileHelpers>(command, 2));
        const Binary binary = compiled(*compiler, aside(other));
        CHECK_FALSE(binary.from_cache);
        CHECK(binary.image.size() > 0);
    }
}

TEST_CASE("a helper that never answers is given up when the compile is") {
    const Place place;
    CompileHelpers helpers({"/bin/sleep", "1000"}, 1);
    helpers.start();
    std::atomic<bool> cancel = false;
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        cancel = true;
    });
    helpers.compile("sm_90", aside(place), &cancel);
    later.join();
    CHECK(cancel);
}
