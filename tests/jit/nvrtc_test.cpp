#include "engine/base/error.h"
#include "engine/jit/nvrtc.h"
#include "engine/jit/nvrtc_library.h"
#include "tests/jit/fixture.h"
#include "tests/support/skip.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <doctest/doctest.h>

namespace fs = std::filesystem;
using namespace nacelle;
using namespace nacelle::test;

namespace {

bool contains(const std::vector<std::byte>& bytes, std::string_view text) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()).find(text) !=
           std::string_view::npos;
}

}

TEST_CASE("NVRTC makes a cubin for each architecture") {
    const Place place;
    const fs::path author = place.write("tag.cu", author_text("s.x = 3.5f;"));
    for (const char* architecture : {"sm_75", "sm_80", "sm_90", "sm_100"}) {
        CAPTURE(architecture);
        const auto compiler = nvrtc(cache_in(place), architecture);
        if (!compiler) NACELLE_SKIP("no NVRTC that compiles for this architecture");
        const Binary binary = compiled(*compiler, program(author));
        CHECK_FALSE(binary.is_path);
        CHECK_FALSE(binary.from_cache);
        CHECK(binary.image.find("ELF") != binary.image.npos);
        CHECK(contains(binary.elf(), "run"));
        CHECK(compiled(*compiler, program(author)).from_cache);
    }
}

TEST_CASE(
    "NVRTC's drafts are kept apart from full builds, which serve for both once they are there") {
    const Place place;
    const auto compiler = nvrtc(cache_in(place));
    if (!compiler) NACELLE_SKIP("no NVRTC");
    ProgramSource source = program(place.write("tag.cu", author_text("s.x = s.x * 3.5f + 1;")));
    source.draft = true;
    const Binary draft = compiled(*compiler, source);
    CHECK(draft.draft);
    CHECK(compiled(*compiler, source).from_cache);
    source.draft = false;
    const Binary full = compiled(*compiler, source);
    CHECK_FALSE(full.draft);
    CHECK_FALSE(full.from_cache);
    CHECK(full.image != draft.image);
    source.draft = true;
    const Binary again = compiled(*compiler, source);
    CHECK_FALSE(again.draft);
    CHECK(again.image == full.image);
}

TEST_CASE("an author's standard headers are there in NVRTC") {
    const Place place;
    const auto compiler = nvrtc(cache_in(place));
    if (!compiler) NACELLE_SKIP("no NVRTC");
    const char* headers = "#include <cmath>\n#include <math.h>\n#include <cstdint>\n#include "
                          "<stdint.h>\n#include <cstddef>\n"
                          "#include <stddef.h>\n#include <cassert>\n#include <assert.h>\n#include "
                          "<initializer_list>\n";
    const char* helpers = R"(
template <class A, class B> constexpr bool same = false;
template <class A> constexpr bool same<A, A> = true;
static_assert(same<decltype(std::sin(1.0f)), float> && same<decltype(std::pow(1.0f, 2.0f)), float>);
static_assert(same<decltype(std::abs(1.0f)), float> && same<decltype(std::sqrt(2.0)), double>);
static_assert(same<std::int64_t, ::int64_t> && sizeof(std::uint32_t) == 4);
static_assert(sizeof(std::size_t) == 8 && sizeof(std::ptrdiff_t) == 8);
static_assert(INT32_MAX == 2147483647 && UINT64_MAX == ~0ull && INT64_MIN < 0);
struct Pair { int a; float b; };
static_assert(offsetof(Pair, b) == 4);
inline float helper(float x) {
    assert(x > 0);
    float sum = std::isfinite(x) && !std::isnan(x) ? INFINITY : NAN;
    for (int i : {1, 6}) sum += std::floor(x) + std::fmod(x, float(i)) + std::round(x);
    sum += float(M_PI) + std::hypot(x, x) + sinf(x);
    return sum + std::exp(x) + std::atan2(x, 2.0f) + std::fmax(x, 1.0f);
}
)";
    SUBCASE("before the SDK") {
        const fs::path author =
            place.write("tag.cu", std::string(headers) + author_text("s.x = helper(2);", helpers));
        CHECK(compiled(*compiler, program(author)).image.size() > 0);
    }
    SUBCASE("after the SDK") {
        const fs::path author =
            place.write("tag.cu", author_text("s.x = helper(2);", std::string(headers) + helpers));
        CHECK(compiled(*compiler, program(author)).image.size() > 0);
    }
}

TEST_CASE("quoted includes are found beside the author's file") {
    const Place place;
    const auto compiler = nvrtc(cache_in(place));
    if (!compiler) NACELLE_SKIP("no NVRTC");
    place.write("my 'games'/shared/speed.h", "#pragma once\n#include \"more.h\"\n");
    place.write("my 'games'/shared/more.h", "#pragma once\nconstexpr float speed = 1;\n");
    const fs::path author = place.write(
        "my 'games'/tag.cu", author_text("s.x = speed;", "#include \"shared/speed.h\"\n"));
    CHECK_FALSE(compiled(*compiler, program(author)).from_cache);
    CHECK(compiled(*compiler, program(author)).from_cache);
    place.write("my 'games'/shared/more.h", "#pragma once\nconstexpr float speed = 2;\n");
    CHECK_FALSE(compiled(*compiler, program(author)).from_cache);
}

TEST_CASE("NVRTC compiles code each time that includes what a macro names") {
    const Place place;
    const auto compiler = nvrtc(cache_in(place));
    if (!compiler) NACELLE_SKIP("no NVRTC");
    const ProgramSource source = program(place.write(
        "tag.cu", author_text("s.x = speed;", "#define NAME \"speed.h\"\n#include NAME\n")));
    std::vector<std::string> images;
    for (const std::string value : {"1", "2", "2"}) {
        place.write("speed.h", "constexpr float speed = " + value + ";\n");
        images.push_back(compiled(*compiler, source).image);
    }
    CHECK(images[0] != images[1]);
    CHECK(images[1] == images[2]);
}

TEST_CASE("what makes another cubin misses the cache") {
    const Place place;
    const auto compiler = nvrtc(cache_in(place));
    const auto other = nvrtc(cache_in(place), "sm_80");
    if (!compiler || !other) NACELLE_SKIP("no NVRTC");
    ProgramSource source = program(
        place.write("tag.cu", author_text("s.x = GIVEN.value;",
                                          "struct Given { const char* name; float value; };\n")));
    source.defines = {"GIVEN=Given{\"one, two\", 5}"};
    CHECK_FALSE(compiled(*compiler, source).from_cache);
    CHECK(compiled(*compiler, source).from_cache);
    CHECK_FALSE(compiled(*other, source).from_cache);
    source.defines = {"GIVEN=Given{\"one, two\", 6}"};
    CHECK_FALSE(compiled(*compiler, source).from_cache);
    source.options = {"--fmad=false"};
    CHECK_FALSE(compiled(*compiler, source).from_cache);
    CHECK(compiled(*compiler, source).from_cache);
    CHECK(compiler->identity() != other->identity());
    CHECK(compiler->identity().find("sm_90") != std::string::npos);
}

TEST_CASE("the author's warnings are kept, the SDK's are not") {
    const Place place;
    const auto compiler = nvrtc(cache_in(place));
    if (!compiler) NACELLE_SKIP("no NVRTC");
    ProgramSource source = program(place.write("tag.cu", author_text("int never_used; s.x = 1;")));
    source.headers.push_back(
        {"plugin/noisy.h", "inline int noisy() { int also_unused; return 1; }\n"});
    source.instantiation += "#include <plugin/noisy.h>\n";
    for (int i = 0; i < 2; ++i) {
        const Binary binary = compiled(*compiler, source);
        CHECK(binary.from_cache == (i == 1));
        CHECK(binary.warnings.find("tag.cu:5: warning:") != std::string::npos);
        CHECK(binary.warnings.find("never_used") != std::string::npos);
        CHECK(binary.warnings.find("also_unused") == std::string::npos);
    }
}

TEST_CASE("an option that NVRTC does not know is an error with its words") {
    const Place place;
    const auto compiler = nvrtc(cache_in(place));
    if (!compiler) NACELLE_SKIP("no NVRTC");
    ProgramSource source = program(place.write("tag.cu", author_text("s.x = 1;")));
    source.options = {"--no-such-option"};
    CHECK_THROWS_WITH_AS(compiler->compile(source), doctest::Contains("no-such-option"), Error);
}

TEST_CASE("an NVRTC compile can be cancelled") {
    const Place place;
    const auto compiler = nvrtc(cache_in(place));
    if (!compiler) NACELLE_SKIP("no NVRTC");
    std::string body = "float a = s.x, b = 2, c = 3;\n";
    for (int i = 0; i < 2000; ++i)
        body += "a = a * b + sinf(c) / (a + " + std::to_string(i) +
                "); b = c - a; c = a * powf(b, c);\n";
    const ProgramSource source =
        program(place.write("tag.cu", author_text(body + "s.x = a + b + c;")));
    std::atomic<bool> cancel = false;
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        cancel = true;
    });
    // NVRTC asks only between its passes, so that how soon it stops is not for a test to say.
    CHECK_THROWS_WITH_AS(compiler->compile(source, &cancel), doctest::Contains("cancelled"), Error);
    later.join();
    CHECK_THROWS_AS(compiler->compile(source, &cancel), Error);
}

TEST_CASE("a missing NVRTC is an error that names every place") {
    const Place place;
    const std::vector<fs::path> places = {place.path() / "libnvrtc.so.13",
                                          "libnvrtc-is-not-here.so"};
    CHECK_THROWS_WITH_AS(open_nvrtc_from(places, "sm_90", cache_in(place)),
                         doctest::Contains("libnvrtc-is-not-here.so"), Error);
    CHECK_THROWS_WITH_AS(open_nvrtc_from(places, "sm_90", cache_in(place)),
                         doctest::Contains("was not found"), Error);
    place.write("libnvrtc.so.13", "no library");
    CHECK_THROWS_AS(open_nvrtc_from(places, "sm_90", cache_in(place)), Error);
}

TEST_CASE("NVRTC is looked for in a toolkit's lib64, and in lib, where a wheel has it") {
    const char* const set = std::getenv("CUDA_HOME");
    const std::string before = set ? set : "";
    ::setenv("CUDA_HOME", "/a/toolkit", 1);
    const std::vector<fs::path> places = nvrtc_places();
    set ? ::setenv("CUDA_HOME", before.c_str(), 1) : ::unsetenv("CUDA_HOME");
    for (const char* const place :
         {"/a/toolkit/lib64/libnvrtc.so.13", "/a/toolkit/lib/libnvrtc.so.13"})
        CHECK(std::find(places.begin(), places.end(), place) != places.end());
}

TEST_CASE("an architecture that no NVRTC here knows is an error with its name") {
    const Place place;
    if (!nvrtc(cache_in(place))) NACELLE_SKIP("no NVRTC");
    CHECK_THROWS_WITH_AS(open_nvrtc("sm_20", cache_in(place)),
                         doctest::Contains("does not compile for sm_20"), Error);
}
