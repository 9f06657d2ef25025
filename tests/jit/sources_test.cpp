// An author's files as they may be found on a disk.
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/jit/author_source.h"
#include "engine/jit/diagnostics.h"
#include "engine/jit/source_watch.h"
#include "tests/jit/fixture.h"

#include <cstdio>
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <thread>

namespace fs = std::filesystem;
using namespace nacelle;
using namespace nacelle::test;

TEST_CASE("a pipe or a device in an author's place is an error at once") {
    const Place place;
    const fs::path pipe = place.path() / "pipe.cu", device = place.path() / "device.cu";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    fs::create_symlink("/dev/zero", device);
    for (const fs::path& author : {pipe, device}) {
        CAPTURE(author);
        CHECK_THROWS_WITH_AS(read_closure(author), doctest::Contains("is no plain file"), Error);
    }
    for (const char* const included : {"pipe.cu", "device.cu"}) {
        const fs::path author =
            place.write("tag.cu", "#include \"" + std::string(included) + "\"\n" + author_text(""));
        CHECK_THROWS_WITH_AS(read_closure(author),
                             doctest::Contains("is no plain file, and cannot be included"), Error);
    }
}

TEST_CASE("a file and what it includes are bounded all together") {
    const Place place;
    const fs::path author = place.write("tag.cu", "#include \"a.h\"\n#include \"b.h\"\n");
    for (const auto& [name, bytes] : {std::pair("a.h", 2), std::pair("b.h", 63)}) {
        place.write(name, "");
        fs::resize_file(place.path() / name, size_t(bytes) << 20);
    }
    CHECK_THROWS_WITH_AS(
        read_closure(author),
        (author.string() + ": has, with what it includes, more than 64 MiB").c_str(), Error);
    fs::resize_file(place.path() / "b.h", size_t(1) << 20);
    CHECK(read_closure(author).size() == 3);
}

TEST_CASE("a watched file may become a pipe, and a file again") {
    const Place place;
    const fs::path author = place.write("tag.cu", author_text("s.x = 1;"));
    std::atomic<int> saves = 0;
    {
        const SourceWatch watch(author, read_closure(author), [&](const SavedSource&) { ++saves; });
        fs::remove(author);
        REQUIRE(::mkfifo(author.c_str(), 0600) == 0);
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        fs::remove(author);
        place.write("tag.cu", author_text("s.x = 2;"));
        for (int i = 0; i < 500 && !saves; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    CHECK(saves == 1);
}

TEST_CASE("a chain of 20,000 files that include each other is read") {
    const Place place;
    constexpr int length = 20000;
    for (int i = 1; i < length; ++i) {
        std::FILE* const file =
            std::fopen((place.path() / (std::to_string(i) + ".h")).c_str(), "w");
        std::fprintf(file, "#include \"%d.h\"\n", i + 1);
        std::fclose(file);
    }
    place.write(std::to_string(length) + ".h", "#include \"1.h\"\n");
    const fs::path author = place.write("tag.cu", "#include \"1.h\"\n" + author_text(""));
    const std::vector<SourceFile> files = read_closure(author);
    REQUIRE(files.size() == length + 1);
    CHECK(files[1].path.filename() == "1.h");
    CHECK(files.back().path.filename() == std::to_string(length) + ".h");
}

TEST_CASE("files come in the order in which a compiler meets them") {
    const Place place;
    place.write("a.h", "#include \"b.h\"\n#include \"c.h\"\n");
    place.write("b.h", "#include \"d.h\"\n");
    place.write("c.h", "");
    place.write("d.h", "#include \"a.h\"\n");
    const fs::path author = place.write("tag.cu", "#include \"a.h\"\n#include \"c.h\"\n");
    std::string names;
    for (const SourceFile& file : read_closure(author))
        names += file.path.filename().string() + " ";
    CHECK(names == "tag.cu a.h b.h d.h c.h ");
}

// Both took time by the square of the text: hours for these.
TEST_CASE("long texts are looked through once") {
    std::string text = "#include <nacelle/env.h>\n";
    for (int i = 0; i < 400000; ++i) text += "int x;\n";
    text += "NACELLE_ENV(Tag)\n";
    const Place place;
    std::vector<SourceFile> closure = {{place.path() / "tag.cu", text}};
    const std::vector<EnvironmentUse> uses = environment_uses(closure);
    REQUIRE(uses.size() == 1);
    CHECK(uses[0].line == 400002);
    std::string calls;
    for (int i = 0; i < 200000; ++i) calls += "constant(\"a\", (\n R\"";
    const fs::path author = place.write("calls.cu", calls);
    CHECK(constants_of(author).size() <= 200000);
}

TEST_CASE("what a compiler says is valid UTF-8 and short, whatever the author's line holds") {
    const Place place;
    const auto compiler = open_host_compiler(std::make_shared<Cache>(place.path() / "cache"));
    for (const std::string& line :
         {std::string("s.x = caf\xe9;"), "s.x = oops; /* " + std::string(40000, 'x') + " */",
          "s.x = \"" + std::string(40000, '(') + "\";"}) {
        const Diagnostics wrong =
            failed(*compiler, program(place.write("tag.cu", author_text(line))));
        REQUIRE_FALSE(wrong.list.empty());
        for (const Diagnostic& one : wrong.list) {
            CHECK(is_valid_utf8(one.message));
            CHECK(is_valid_utf8(one.excerpt));
            CHECK(one.excerpt.size() < 500);
            CHECK(one.message.size() < 500);
        }
        CHECK(is_valid_utf8(wrong.text()));
        CHECK(is_valid_utf8(wrong.raw));
        CHECK(wrong.list[0].line == 5);
    }
}

TEST_CASE("code that reads what only a compiler knows is compiled each time") {
    const Place place;
    const Variable path("CPATH", (place.path() / "elsewhere").string());
    const auto compiler = open_host_compiler(std::make_shared<Cache>(place.path() / "cache"));
    const auto write_speed = [&](const std::string& value) {
        for (const std::string name : {"speed.h", "elsewhere/fast.h"})
            place.write(name, "constexpr float speed = " + value + ";\n");
    };
    for (const std::string include :
         {"#define NAME \"speed.h\"\n#include NAME\n", "#include <fast.h>\n",
          "#include \"fast.h\"\n", "%:include \"speed.h\"\n", "#import \"speed.h\"\n"}) {
        CAPTURE(include);
        const ProgramSource source =
            program(place.write("tag.cu", author_text("s.x = speed;", include)));
        for (const int value : {1, 2}) {
            write_speed(std::to_string(value));
            CHECK(run(compiled(*compiler, source)) == value);
        }
    }
    const ProgramSource source = program(
        place.write("tag.cu", author_text("s.x = speed;",
                                          "#if __has_include(\"flag.h\")\nconstexpr float speed "
                                          "= 1;\n#else\nconstexpr float speed = 2;\n#endif\n")));
    CHECK(run(compiled(*compiler, source)) == 2);
    place.write("flag.h", "");
    CHECK(run(compiled(*compiler, source)) == 1);
}
