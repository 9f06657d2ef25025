#include "engine/base/error.h"
#include "engine/jit/author_source.h"
#include "engine/jit/jit.h"
#include "tests/jit/fixture.h"

#include <doctest/doctest.h>

namespace fs = std::filesystem;
using nacelle::test::Place;

namespace {

std::vector<std::string> names(const std::vector<nacelle::SourceFile>& files,
                               const fs::path& base) {
    std::vector<std::string> result;
    for (const nacelle::SourceFile& file : files)
        result.push_back(file.path.lexically_relative(base).string());
    return result;
}

using Names = std::vector<std::string>;

}

TEST_CASE("the closure follows quoted includes from file to file, each once") {
    const Place place;
    place.write("shared/maths.h",
                "#pragma once\n#include \"deep/more.h\"\n#include \"../tag.cu\"\n");
    place.write("shared/deep/more.h", "  #  include   \"../maths.h\" // again\n");
    const fs::path tag = place.write(
        "tag.cu",
        "#include <vector>\n#include \"shared/maths.h\"\n#include \"shared/deep/more.h\"\n"
        "#include \"nacelle/env.h\"\n#include \"not_there.h\"\n#include \"shared\"\n");
    CHECK(names(nacelle::read_closure(tag), place.path()) ==
          Names{"tag.cu", "shared/maths.h", "shared/deep/more.h"});
}

TEST_CASE("an include goes up from where a link leads, as for a compiler") {
    const Place place;
    const fs::path tag = place.write("own/tag.cu", "#include \"lib/../a.h\"\n");
    place.write("own/a.h", "int own;\n");
    place.write("theirs/a.h", "int theirs;\n");
    fs::create_directories(place.path() / "theirs/lib");
    fs::create_directory_symlink(place.path() / "theirs/lib", place.path() / "own/lib");
    const auto files = nacelle::read_closure(tag);
    REQUIRE(files.size() == 2);
    CHECK(files[1].text == "int theirs;\n");
}

TEST_CASE("the closure knows a file by any of its names") {
    const Place place;
    place.write("a.h", "");
    fs::create_symlink("a.h", place.path() / "b.h");
    const fs::path tag =
        place.write("tag.cu", "#include \"a.h\"\n#include \"./a.h\"\n#include \"b.h\"\n");
    CHECK(names(nacelle::read_closure(tag), place.path()) == Names{"tag.cu", "a.h"});
}

TEST_CASE("includes in comments and strings are none") {
    const Place place;
    for (const char* name : {"a.h", "b.h", "c.h", "d.h", "e.h", "f.h", "g.h"})
        place.write(name, "");
    const fs::path tag = place.write("tag.cu", R"raw(
// #include "a.h"
/* text
#include "b.h"
*/
const char* raw = R"x(
#include "c.h"
)x";
// a comment that goes on \
#include "d.h"
const char* text = "/* no comment"; int million = 1'000'000; char quote = '"'; // '
#include "e.h"
/**/ #include "f.h"
#include /* between */ "g.h"
)raw");
    CHECK(names(nacelle::read_closure(tag), place.path()) == Names{"tag.cu", "e.h", "f.h", "g.h"});
}

TEST_CASE("the closure reads directives as a compiler does") {
    const Place place;
    for (const char* name : {"a.h", "b.h", "c.h", "d.h"}) place.write(name, "");
    const fs::path tag = place.write("tag.cu", "\xef\xbb\xbf#include \"a.h\"\n%:include \"b.h\"\n"
                                               "#inc\\\nlude \"c.h\"\n\f#include \\\r\n \"d.h\"\n");
    CHECK(names(nacelle::read_closure(tag), place.path()) ==
          Names{"tag.cu", "a.h", "b.h", "c.h", "d.h"});
}

TEST_CASE("a closure is self-contained unless only a compiler knows what is read") {
    const Place place;
    place.write("a.h", "");
    const auto contained = [&](const std::string& text) {
        place.write("deep.h", text + "\n");
        return nacelle::is_self_contained(
            nacelle::read_closure(place.write("tag.cu", "#include \"deep.h\"\n")),
            {"nacelle/env.h"});
    };
    for (const char* text :
         {"#include <nacelle/env.h>", "#include \"nacelle/env.h\"", "#include <cmath>",
          "#include \"math.h\"", "#include \"a.h\"", "%: include /**/ \"a.h\" // a", "#pragma once",
          "#if 1\n#endif", "#define JOIN(a, b) a##b \\\n #b", "// #include NAME, __has_include(a)",
          "const char* text = R\"(\n#import \"a.h\"\n)\";", "int import, include, embed;"}) {
        CAPTURE(text);
        CHECK(contained(text));
    }
    for (const char* text :
         {"#include NAME", "#include <other.h>", "#include <../a.h>", "#include \"other.h\"",
          "#import \"a.h\"", "#include_next \"a.h\"", "#embed \"a.h\"", "%:include NAME",
          "#inc\\\nlude NAME", "#include /*\n*/ \"a.h\"", "# /*\n*/ include \"a.h\"",
          "#if __has_include(\"a.h\")\n#endif", "#define HAS(a) __has_include(a)",
          "#if 1 || \\\n __has_\\\ninclude(<a.h>)\n#endif"}) {
        CAPTURE(text);
        CHECK_FALSE(contained(text));
    }
}

TEST_CASE("environments of ours are self-contained") {
    int files = 0;
    for (const auto& entry : fs::directory_iterator(nacelle::test::source_path("env_sources"))) {
        if (entry.path().extension() != ".cu") continue;
        CAPTURE(entry.path());
        ++files;
        CHECK(nacelle::is_self_contained(nacelle::read_closure(entry.path()), {"nacelle/env.h"}));
    }
    CHECK(files > 5);
}

TEST_CASE("a scan keeps every place where it was") {
    const std::string text = "int a; // one\nchar b = '\\''; /* two\n*/ auto c = \"x//y\\\"z\"; "
                             "auto d = R\"(a\n\")\"; u8R\"k()\")k\"; 0x1'f";
    const nacelle::MaskedText scanned = nacelle::mask_comments(text);
    CHECK(scanned.plain == "int a;       \nchar b = '\\'';       \n   auto c = \"x//y\\\"z\"; auto "
                           "d = R\"(a\n\")\"; u8R\"k()\")k\"; 0x1'f");
    CHECK(scanned.code == "int a;       \nchar b = '  ';       \n   auto c = \"       \"; auto d = "
                          "R\"  \n  \"; u8R\"      \"; 0x1'f");
}

TEST_CASE("a scan takes text that ends too early") {
    for (const char* text :
         {"/*", "\"", "'", "R\"", "R\"x(", "\\", "\"\\", "//", "0'", "/", "R\"(\n\n"}) {
        CAPTURE(text);
        const nacelle::MaskedText scanned = nacelle::mask_comments(text);
        CHECK(scanned.plain.size() == std::string(text).size());
        CHECK(scanned.code.size() == std::string(text).size());
    }
}

TEST_CASE("constants are found with their names, defaults and lines") {
    const Place place;
    place.write("sizes.h", "static constexpr int far = nacelle :: constant (\"far\", 2);\n");
    const fs::path tag = place.write("tag.cu", R"raw(#include "sizes.h"
// nacelle::constant("comment", 1)
static constexpr int taggers = nacelle::constant("taggers", 5);
const char* text = "nacelle::constant(\"text\", 1)";
auto f = nacelle::constant("speed", limit(3, (4)) /* fast */ * 2.5f), g = constant("near", -1);
auto h = other::constant("other", 1) + box.constant("box", 1) + my_constant("mine", 1);
auto j = nacelle::constant("alone");
auto i = nacelle::constant(
    "split",
    7);
)raw");
    const auto found = nacelle::constants_of(tag);
    REQUIRE(found.size() == 5);
    CHECK(found[0].name == "taggers");
    CHECK(found[0].fallback == "5");
    CHECK(found[0].file == tag);
    CHECK(found[0].line == 3);
    CHECK(found[1].name == "speed");
    CHECK(found[1].fallback == "limit(3, (4))            * 2.5f");
    CHECK(found[1].line == 5);
    CHECK(found[2].name == "near");
    CHECK(found[2].fallback == "-1");
    CHECK(found[3].name == "split");
    CHECK(found[3].fallback == "7");
    CHECK(found[3].line == 8);
    CHECK(found[4].name == "far");
    CHECK(found[4].file.filename() == "sizes.h");
}

TEST_CASE("environments are found by their macro") {
    const Place place;
    place.write("base.h", "#define MINE NACELLE_ENV(Mine)\nNACELLE_ENV(Base)\n");
    const fs::path tag = place.write(
        "tag.cu", "#include \"base.h\"\n// NACELLE_ENV(Comment)\nNACELLE_ENV( games::Tag )\n"
                  "const char* text = \"NACELLE_ENV(Text)\"; MY_NACELLE_ENV(No)\n");
    const auto found = nacelle::environment_uses(nacelle::read_closure(tag));
    REQUIRE(found.size() == 2);
    CHECK(found[0].name == "games::Tag");
    CHECK(found[1].name == "Base");
    const fs::path none = place.write("none.cu", "struct Tag {};\n");
    CHECK(nacelle::environment_uses(nacelle::read_closure(none)).empty());
}

TEST_CASE("an author's file that is not there is an error with its name") {
    const Place place;
    CHECK_THROWS_WITH_AS(nacelle::read_closure(place.path() / "tag.cu"),
                         doctest::Contains("tag.cu"), nacelle::Error);
    CHECK_THROWS_AS(nacelle::read_closure(place.path()), nacelle::Error);
}

TEST_CASE("lines are counted from one") {
    CHECK(nacelle::line_text("one\r\ntwo\n", 1) == "one");
    CHECK(nacelle::line_text("one\r\ntwo\n", 2) == "two");
    CHECK(nacelle::line_text("one\ntwo", 2) == "two");
    CHECK(nacelle::line_text("one\ntwo", 3) == "");
    CHECK(nacelle::line_text("one", 0) == "");
    CHECK(nacelle::line_text("one", -1) == "");
    CHECK(nacelle::line_at("a\nb\nc", 4) == 3);
}
