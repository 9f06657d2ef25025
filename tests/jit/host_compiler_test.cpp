#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/process.h"
#include "tests/jit/fixture.h"
#include "tests/support/skip.h"

#include <chrono>
#include <thread>

#include <doctest/doctest.h>

namespace fs = std::filesystem;
using namespace nacelle;
using namespace nacelle::test;

namespace {

// A compiler that notes each start of it and then works as g++ does.
fs::path counting_compiler(const Place& place) {
    const fs::path script =
        place.write("count-cxx", "#!/bin/sh\necho start >> '" + (place.path() / "starts").string() +
                                     "'\nexec g++ \"$@\"\n");
    fs::permissions(script, fs::perms::owner_all);
    return script;
}

size_t starts(const Place& place) {
    return fs::exists(place.path() / "starts") ? read_file(place.path() / "starts").size() / 6 : 0;
}

}

TEST_CASE("each host compiler makes a shared object that runs") {
    for (const char* name : {"g++", "clang++"}) {
        CAPTURE(name);
        const Place place;
        const auto compiler = host_compiler(name, cache_in(place));
        if (!compiler) continue;
        const fs::path author = place.write("tag.cu", author_text("s.x = 3.5f;"));
        const Binary binary = compiled(*compiler, program(author));
        CHECK(run(binary) == 3.5f);
        CHECK_FALSE(binary.from_cache);
        CHECK(binary.milliseconds > 0);
        CHECK(path_of(binary).filename().string().starts_with("tag-"));
        const auto elf = binary.elf();
        REQUIRE(elf.size() > 4);
        CHECK(static_cast<char>(elf[1]) == 'E');
    }
}

TEST_CASE("a program of the engine's own has no author's file") {
    const Place place;
    const auto compiler = open_host_compiler(cache_in(place));
    ProgramSource source{.author = {}, .headers = {{"nine.h", "constexpr int nine = 9;"}}};
    source.instantiation = "#include <nine.h>\nextern \"C\" int number() { return nine; }\n";
    const Binary binary = compiled(*compiler, source);
    CHECK(path_of(binary).filename().string().starts_with("program-"));
    CHECK(compiled(*compiler, source).from_cache);
    source.headers[0].text = "constexpr int nine = 10;";
    CHECK_FALSE(compiled(*compiler, source).from_cache);
    source.instantiation = "int wrong = missing;";
    CHECK(failed(*compiler, source).raw.find("missing") != std::string::npos);
}

TEST_CASE("a second compile comes from the cache") {
    const Place place;
    const auto cache = cache_in(place);
    const fs::path author = place.write("tag.cu", author_text("s.x = 1;"));
    const auto first = open_host_compiler(cache);
    CHECK_FALSE(compiled(*first, program(author)).from_cache);
    const auto second = open_host_compiler(cache_in(place));
    const Binary again = compiled(*second, program(author));
    CHECK(again.from_cache);
    CHECK(run(again) == 1);
    CHECK(first->identity() == second->identity());
}

TEST_CASE("a warm start runs no compiler") {
    const Place place;
    const fs::path author = place.write("tag.cu", author_text("s.x = 1;"));
    const Variable variable("CXX", counting_compiler(place).string());
    CHECK(run(compiled(*open_host_compiler(cache_in(place)), program(author))) == 1);
    const size_t cold = starts(place);
    CHECK(cold == 3);    // its version, its flags, the compile
    CHECK(compiled(*open_host_compiler(cache_in(place)), program(author)).from_cache);
    CHECK(starts(place) == cold);
}

TEST_CASE("whatever makes another binary misses the cache") {
    const Place place;
    place.write("shared/speed.h", "#pragma once\nconstexpr float speed = 1;\n");
    const fs::path author =
        place.write("tag.cu", author_text("s.x = speed;", "#include \"shared/speed.h\"\n"));
    const fs::path script = counting_compiler(place);
    const Variable variable("CXX", script.string());
    const auto cache = cache_in(place);
    ProgramSource source = program(author);
    const auto hit = [&] { return compiled(*open_host_compiler(cache), source).from_cache; };
    CHECK_FALSE(hit());
    REQUIRE(hit());

    SUBCASE("an included file") {
        place.write("shared/speed.h", "#pragma once\nconstexpr float speed = 2;\n");
    }
    SUBCASE("the author's file") {
        place.write("tag.cu", author_text("s.x = 2 * speed;", "#include \"shared/speed.h\"\n"));
    }
    SUBCASE("a define") { source.defines = {"NACELLE_CONSTANTS={\"taggers\", 5},"}; }
    SUBCASE("an option") { source.options = {"-O1"}; }
    SUBCASE("a header") { source.headers.push_back({"plugin/more.h", "int more();\n"}); }
    SUBCASE("the instantiation") { source.instantiation += "int more;\n"; }
    SUBCASE("the compiler") {
        write_file(script, read_file(script) + "# another\n");
        fs::permissions(script, fs::perms::owner_all);
    }
    CHECK_FALSE(hit());
    CHECK(hit());
}

TEST_CASE("a file elsewhere with the same text is the same binary") {
    const Place place;
    const auto cache = cache_in(place);
    const auto compiler = open_host_compiler(cache);
    CHECK_FALSE(
        compiled(*compiler, program(place.write("a/tag.cu", author_text("s.x = 1;")))).from_cache);
    CHECK(
        compiled(*compiler, program(place.write("b/tag.cu", author_text("s.x = 1;")))).from_cache);
}

TEST_CASE("debug information names the file that it was made from") {
    const Place place;
    const auto compiler = open_host_compiler(cache_in(place));
    for (const char* folder : {"a/tag.cu", "b/tag.cu"}) {
        ProgramSource source = program(place.write(folder, author_text("s.x = 1;")));
        source.options = {"-g"};
        CHECK_FALSE(compiled(*compiler, source).from_cache);
        CHECK(compiled(*compiler, source).from_cache);
    }
}

TEST_CASE("defines and options reach the compiler, and headers include one another") {
    const Place place;
    ProgramSource source =
        program(place.write("tag.cu", author_text("s.x = given[0].value + LATE + more;",
                                                  "#include <plugin/more.h>\n")));
    source.headers.push_back(
        {"plugin/more.h",
         "#pragma once\n#include <plugin/deep/given.h>\nconstexpr float more = 100;\n"});
    source.headers.push_back({"plugin/deep/given.h",
                              "struct Given { const char* name; float value; };\nconstexpr Given "
                              "given[] = {GIVEN {\"\", 0}};\n"});
    source.defines = {"GIVEN={\"taggers\", 5},"};
    source.options = {"-DLATE=10"};
    CHECK(run(compiled(*open_host_compiler(cache_in(place)), source)) == 115);
}

TEST_CASE("a path with spaces and marks compiles") {
    const Place place;
    place.write("my 'games' (ü)/more.h", "constexpr float more = 7;\n");
    const fs::path author = place.write("my 'games' (ü)/tag one.cu",
                                        author_text("s.x = more;", "#include \"more.h\"\n"));
    CHECK(run(compiled(*open_host_compiler(cache_in(place)), program(author))) == 7);
    ProgramSource quoted = program(place.write("a\"b/tag.cu", author_text("s.x = 1;")));
    CHECK_THROWS_WITH_AS(open_host_compiler(cache_in(place))->compile(quoted),
                         doctest::Contains("quote"), Error);
}

TEST_CASE("everything works where no cache can be written") {
    const Place place;
    const Variable temporary("TMPDIR", place.path().string());
    const fs::path file = place.write("file", "");
    const auto cache = std::make_shared<Cache>(file / "cache");
    const auto compiler = open_host_compiler(cache);
    const fs::path author = place.write("tag.cu", author_text("s.x = 2;"));
    CHECK(run(compiled(*compiler, program(author))) == 2);
    CHECK_FALSE(compiled(*compiler, program(author)).from_cache);
    CHECK_FALSE(cache->trouble().empty());
}

TEST_CASE("a damaged entry and a damaged shared object are made again") {
    const Place place;
    const auto compiler = open_host_compiler(cache_in(place));
    const fs::path author = place.write("tag.cu", author_text("s.x = 6;"));
    const fs::path made = path_of(compiled(*compiler, program(author)));
    const std::string bytes = read_file(made);
    write_file(made, bytes.substr(0, bytes.size() / 2));
    CHECK(run(compiled(*compiler, program(author))) == 6);
    for (const auto& entry : fs::directory_iterator(place.path() / "cache"))
        if (entry.is_regular_file()) write_file(entry.path(), "damaged");
    const Binary again = compiled(*compiler, program(author));
    CHECK_FALSE(again.from_cache);
    CHECK(run(again) == 6);
}

TEST_CASE("a file that is saved during its compile is not kept under the old text") {
    const Place place;
    const fs::path author = place.write("tag.cu", author_text("s.x = 1;"));
    // Saves the author's file anew in the first compile, as an editor would.
    const fs::path script =
        place.write("saving-cxx", "#!/bin/sh\ncase \"$*\" in *-shared*) if [ -f '" +
                                      (place.path() / "next").string() + "' ]; then mv '" +
                                      (place.path() / "next").string() + "' '" + author.string() +
                                      "'; fi;; esac\nexec g++ \"$@\"\n");
    fs::permissions(script, fs::perms::owner_all);
    place.write("next", author_text("s.x = 2;"));
    const Variable variable("CXX", script.string());
    const auto cache = cache_in(place);
    CHECK(run(compiled(*open_host_compiler(cache), program(author))) == 2);
    place.write("tag.cu", author_text("s.x = 1;"));
    CHECK(run(compiled(*open_host_compiler(cache), program(author))) == 1);
}

TEST_CASE("a host compile can be cancelled") {
    const Place place;
    const auto compiler = open_host_compiler(cache_in(place));
    const std::string slow = "template <int N> struct Slow { static constexpr int value = Slow<N - "
                             "1>::value + Slow<N - 2>::value % 3; };\n"
                             "template <> struct Slow<0> { static constexpr int value = 1; "
                             "};\ntemplate <> struct Slow<1> : Slow<0> {};\n"
                             "constexpr int spin(int n) { int s = 0; for (int i = 0; i < 200000; "
                             "++i) s ^= i * n; return s; }\n"
                             "template <int N> struct Spin { static constexpr int value = spin(N) "
                             "+ Spin<N - 1>::value; };\n"
                             "template <> struct Spin<0> { static constexpr int value = 0; };\n";
    ProgramSource source =
        program(place.write("tag.cu", author_text("s.x = Spin<800>::value;", slow)));
    source.options = {"-fconstexpr-ops-limit=100000000000"};
    std::atomic<bool> cancel = false;
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        cancel = true;
    });
    const auto start = std::chrono::steady_clock::now();
    CHECK_THROWS_WITH_AS(compiler->compile(source, &cancel), doctest::Contains("cancelled"), Error);
    later.join();
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
    for (const auto& entry : fs::directory_iterator(place.path() / "cache" / "files"))
        CHECK_FALSE(entry.path().filename().string().starts_with("building"));
    CHECK_THROWS_AS(compiler->compile(source, &cancel), Error);
}

TEST_CASE("no compiler at all is an error that says what was tried") {
    const Place place;
    const Variable path("PATH", place.path().string());
    const Variable unset("CXX", std::nullopt);
    CHECK_THROWS_WITH_AS(open_host_compiler(cache_in(place)),
                         doctest::Contains("no C++ compiler: tried $CXX"), Error);
    const Variable set("CXX", "no-such-compiler -m64");
    CHECK_THROWS_WITH_AS(open_host_compiler(cache_in(place)), doctest::Contains("no-such-compiler"),
                         Error);
}

TEST_CASE("a program that is no compiler is an error with its words") {
    const Place place;
    const fs::path script = place.write("broken-cxx", "#!/bin/sh\necho out of order\nexit 3\n");
    fs::permissions(script, fs::perms::owner_all);
    const Variable variable("CXX", script.string());
    CHECK_THROWS_WITH_AS(open_host_compiler(cache_in(place)), doctest::Contains("out of order"),
                         Error);
}

TEST_CASE("a draft is kept apart from the full build, which serves for both once it is there") {
    const Place place;
    const Variable cxx("CXX", counting_compiler(place).string());
    const auto compiler = open_host_compiler(cache_in(place));
    ProgramSource source = program(place.write("tag.cu", author_text("s.x = 2.5f;")));
    const size_t before = starts(place);
    source.draft = true;
    const Binary draft = compiled(*compiler, source);
    CHECK(draft.draft);
    CHECK(run(draft) == 2.5f);
    CHECK(compiled(*compiler, source).from_cache);
    CHECK(starts(place) == before + 1);
    source.draft = false;
    const Binary full = compiled(*compiler, source);
    CHECK(!full.draft);
    CHECK(!full.from_cache);
    CHECK(starts(place) == before + 2);
    source.draft = true;
    const Binary again = compiled(*compiler, source);
    CHECK(!again.draft);
    CHECK(path_of(again) == path_of(full));
    CHECK(starts(place) == before + 2);
}
