#include "engine/base/error.h"
#include "engine/jit/diagnostics.h"
#include "tests/jit/fixture.h"

#include <doctest/doctest.h>

// What an author reads, with every compiler that is here.
namespace fs = std::filesystem;
using namespace nacelle;
using namespace nacelle::test;

namespace {

class Compilers final {
public:
    Compilers() {
        const auto cache = std::make_shared<Cache>(place_.path() / "cache");
        for (const char* name : {"g++", "clang++"})
            if (auto compiler = host_compiler(name, cache))
                list_.push_back({name, std::move(compiler)});
        if (auto compiler = nvrtc(cache)) list_.push_back({"NVRTC", std::move(compiler)});
    }

    fs::path write(const std::string& name, const std::string& text) const {
        return place_.write(name, text);
    }

    // Compiles with each and hands each result to the check.
    template <class Check> void each(const ProgramSource& source, Check check) {
        REQUIRE_FALSE(list_.empty());
        for (const Named& one : list_) {
            const Diagnostics wrong = failed(*one.compiler, source);
            INFO(one.name << " printed:\n" << wrong.raw << "\nwe show:\n" << wrong.text());
            CHECK_FALSE(wrong.list.empty());
            if (!wrong.list.empty()) check(one.name, wrong);
        }
    }

    // The first diagnostic's place and the whole of its message.
    void expect(const fs::path& author, const fs::path& file, int line,
                const std::string& message) {
        each(program(author), [&](const std::string&, const Diagnostics& wrong) {
            CHECK(wrong.list.front().file == file.string());
            CHECK(wrong.list.front().line == line);
            CHECK(wrong.list.front().message == message);
            CHECK(wrong.list.size() == 1);
        });
    }

private:
    struct Named {
        std::string name;
        std::unique_ptr<Compiler> compiler;
    };
    Place place_;
    std::vector<Named> list_;
};

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}

TEST_CASE("a syntax error stands at its line with that line") {
    Compilers compilers;
    const fs::path author = compilers.write("tag.cu", author_text("s.x = 1 }"));
    compilers.each(program(author), [&](const std::string&, const Diagnostics& wrong) {
        const Diagnostic& first = wrong.list.front();
        CHECK(first.file == author.string());
        CHECK(first.line == 5);
        CHECK(first.excerpt == "        s.x = 1 }");
        CHECK(has(first.message, ";"));
        CHECK(has(wrong.text(), "tag.cu:5: error: "));
        CHECK(has(wrong.text(), "\n     5 |         s.x = 1 }\n"));
        CHECK_FALSE(wrong.raw.empty());
    });
}

TEST_CASE("a missing member is named in plain quotes") {
    Compilers compilers;
    const fs::path author = compilers.write("tag.cu", author_text("s.posx = 1;"));
    compilers.each(program(author), [&](const std::string& name, const Diagnostics& wrong) {
        const Diagnostic& first = wrong.list.front();
        CHECK(wrong.list.size() == 1);
        CHECK(first.line == 5);
        const std::string words = name == "g++" ? "'struct Tag::State' has no member named 'posx'"
                                  : name == "clang++"
                                      ? "no member named 'posx' in 'Tag::State'"
                                      : "class \"Tag::State\" has no member \"posx\"";
        CHECK(first.message == words);
    });
}

TEST_CASE("an error in an included file stands in that file") {
    Compilers compilers;
    const fs::path header = compilers.write(
        "shared/maths.h", "#pragma once\n\ninline int broken(int a) { return a.nope; }\n");
    const fs::path author = compilers.write(
        "envs/tag.cu", author_text("s.x = broken(1);", "#include \"../shared/maths.h\"\n"));
    compilers.each(program(author), [&](const std::string&, const Diagnostics& wrong) {
        CHECK(wrong.list.size() == 1);
        CHECK(wrong.list.front().file == header.string());
        CHECK(wrong.list.front().line == 3);
        CHECK(wrong.list.front().excerpt == "inline int broken(int a) { return a.nope; }");
    });
}

TEST_CASE("an error inside a template of the SDK stands at the author's call") {
    Compilers compilers;
    const fs::path author = compilers.write("tag.cu", author_text("s.x = nacelle::deeper(2);"));
    compilers.each(program(author), [&](const std::string&, const Diagnostics& wrong) {
        CHECK(wrong.list.size() == 1);
        CHECK(wrong.list.front().file == author.string());
        CHECK(wrong.list.front().line == 5);
        CHECK(wrong.list.front().excerpt == "        s.x = nacelle::deeper(2);");
        CHECK_FALSE(has(wrong.list.front().message, "/"));
    });
}

TEST_CASE("a static_assert of the SDK is its words, at the author's line") {
    Compilers compilers;
    const fs::path author =
        compilers.write("tag.cu", author_text("s.x = nacelle::Large<State>::value;"));
    compilers.expect(author, author, 5, "State is too small: give it \"more\" fields");
}

TEST_CASE("what no line of the author's leads to stands at NACELLE_ENV") {
    Compilers compilers;
    const std::string three =
        "#include <nacelle/env.h>\nstruct Tag { struct State { float x, y, z; }; static void "
        "reset(State& s) { s.x = 1; } };\n\nNACELLE_ENV(Tag)\n";
    SUBCASE("a static_assert") {
        const fs::path author = compilers.write("tag.cu", three);
        compilers.expect(author, author, 4, "State has 12 bytes");
    }
    SUBCASE("a function that is not there") {
        const fs::path author =
            compilers.write("tag.cu", "#include <nacelle/env.h>\nstruct Tag { struct State { float "
                                      "x; }; };\n\n  NACELLE_ENV(Tag)\n");
        compilers.each(program(author), [&](const std::string&, const Diagnostics& wrong) {
            CHECK(wrong.list.size() == 1);
            CHECK(has(wrong.list.front().message, "reset"));
        });
    }
    SUBCASE("a mistake in the kernels around the file") {
        ProgramSource source = program(compilers.write("tag.cu", author_text("s.x = 1;")));
        source.headers.push_back(
            {"plugin/sampler.h", "#pragma once\n\ninline int sample() { return missing; }\n"});
        source.instantiation += "#include <plugin/sampler.h>\n";
        compilers.each(source, [&](const std::string&, const Diagnostics& wrong) {
            CHECK(wrong.list.front().line == 8);
            CHECK(has(wrong.list.front().message, "missing"));
            CHECK(has(wrong.list.front().message, "(in plugin/sampler.h:3)"));
        });
    }
}

TEST_CASE("what compilers say in no author's words is said in ours") {
    Compilers compilers;
    SUBCASE("a bit-field") {
        const fs::path author = compilers.write(
            "tag.cu", "#include <nacelle/env.h>\nstruct Tag {\n    struct State { float x; };\n    "
                      "struct Flags {\n"
                      "        unsigned alive : 1, team : 3;\n    };\n    static void reset(State& "
                      "s) { Flags f{}; nacelle::fields(f); s.x = 1; }\n};\nNACELLE_ENV(Tag)\n");
        compilers.expect(author, author, 5,
                         "a bit-field cannot be an array: use a whole number (uint8_t alive)");
    }
    SUBCASE("an anonymous struct") {
        const fs::path author = compilers.write(
            "tag.cu",
            "#include <nacelle/env.h>\nstruct Tag {\n    struct State { float x; };\n    struct "
            "Body {\n"
            "        float mass;\n        struct { float at, speed; };\n    };\n    static void "
            "reset(State& s) { Body b{}; nacelle::fields(b); s.x = 1; }\n};\nNACELLE_ENV(Tag)\n");
        compilers.expect(author, author, 6,
                         "an anonymous struct or union has no name to find it by: give it one");
    }
    SUBCASE("std::array without its header") {
        const fs::path author =
            compilers.write("tag.cu", author_text("std::array<float, 3> a; s.x = 1;"));
        compilers.each(program(author), [&](const std::string&, const Diagnostics& wrong) {
            CHECK(wrong.list.front().line == 5);
            CHECK(has(wrong.list.front().message, "use a C array"));
        });
    }
    SUBCASE("a file without the SDK") {
        const fs::path author = compilers.write(
            "tag.cu", "struct Tag { struct State { float x; }; };\nNACELLE_ENV(Tag)\n");
        compilers.each(program(author), [&](const std::string&, const Diagnostics& wrong) {
            CHECK(wrong.list.front().line == 1);
            CHECK(wrong.list.front().message == "the file does not #include <nacelle/env.h>");
        });
    }
    SUBCASE("an environment that is switched off") {
        const fs::path author =
            compilers.write("tag.cu", "#include <nacelle/env.h>\nstruct Tag { struct State { float "
                                      "x; }; };\n#if 0\nNACELLE_ENV(Tag)\n#endif\n");
        compilers.each(program(author), [&](const std::string&, const Diagnostics& wrong) {
            CHECK(wrong.list.front().message == "the file has no NACELLE_ENV(Name)");
        });
    }
    SUBCASE("a second environment under a condition") {
        const fs::path author =
            compilers.write("tag.cu", author_text("s.x = 1;") +
                                          "struct Pond { };\n#if 1\nNACELLE_ENV(Pond)\n#endif\n");
        compilers.each(program(author), [&](const std::string&, const Diagnostics& wrong) {
            CHECK(wrong.list.front().line == 11);
            CHECK(wrong.list.front().message == "the file has two environments");
        });
    }
}

TEST_CASE("a standard header that a GPU does not have is said so") {
    const Place place;
    const auto compiler = nvrtc(std::make_shared<Cache>(place.path() / "cache"));
    if (!compiler) return;
    const Diagnostics vector = failed(
        *compiler, program(place.write("tag.cu", author_text("s.x = 1;", "#include <vector>\n"))));
    CHECK(vector.list.front().line == 2);
    CHECK(has(vector.list.front().message, "the standard library is not there on a GPU"));
    const Diagnostics array = failed(
        *compiler, program(place.write("tag.cu", author_text("s.x = 1;", "#include <array>\n"))));
    CHECK(has(array.list.front().message, "use a C array"));
    const Diagnostics missing =
        failed(*compiler,
               program(place.write("tag.cu", author_text("s.x = 1;", "#include \"gone.h\"\n"))));
    CHECK(has(missing.list.front().message, "gone.h"));
}

TEST_CASE("an unclosed brace stands in the author's file") {
    Compilers compilers;
    const fs::path author = compilers.write(
        "tag.cu", "#include <nacelle/env.h>\nstruct Tag {\n    struct State { float x; };\n    "
                  "static void reset(State& s) { s.x = 1; }\n;\nNACELLE_ENV(Tag)\n");
    compilers.each(program(author), [&](const std::string&, const Diagnostics& wrong) {
        CHECK(wrong.list.front().file == author.string());
        CHECK(wrong.list.front().line > 0);
        CHECK_FALSE(wrong.list.front().excerpt.empty());
    });
}

TEST_CASE("many errors are shown three at a time") {
    Compilers compilers;
    std::string body;
    for (char name = 'a'; name < 'h'; ++name) body += std::string("s.") + name + " = 1;\n        ";
    const fs::path author = compilers.write("tag.cu", author_text(body));
    compilers.each(program(author), [&](const std::string&, const Diagnostics& wrong) {
        CHECK(wrong.list.size() == 7);
        CHECK(has(wrong.text(), "tag.cu:7: error: "));
        CHECK_FALSE(has(wrong.text(), "tag.cu:8: error: "));
        CHECK(has(wrong.text(), "and 4 more\n"));
    });
}

TEST_CASE("a file that is no environment is refused before any compiler reads it") {
    const Place place;
    const auto wrong_with = [&](std::string_view text) {
        const auto wrong = check_author(read_closure(place.write("tag.cu", text)));
        return wrong ? wrong->text() : std::string();
    };
    CHECK(has(wrong_with(""), "tag.cu: error: the file is empty\n"));
    CHECK(has(wrong_with(" \n\t\n"), "the file is empty"));
    CHECK(has(wrong_with(std::string_view("\x7f"
                                          "ELF\n\0\0\0",
                                          8)),
              "tag.cu:2: error: this is no text: it has NUL bytes\n"));
    CHECK(has(wrong_with("struct Tag {};\n// NACELLE_ENV(Tag)\n"),
              "tag.cu: error: the file has no NACELLE_ENV(Name)\n"));
    CHECK(has(wrong_with("NACELLE_ENV(Tag)\n\nNACELLE_ENV(Pond)\n"),
              "tag.cu:3: error: the file has two environments: Tag and Pond\n     3 | "
              "NACELLE_ENV(Pond)\n"));
    CHECK(wrong_with("NACELLE_ENV(Tag)\n") == "");
    CHECK(wrong_with("#ifdef A\nNACELLE_ENV(Tag)\n#else\nNACELLE_ENV(Pond)\n#endif\n") == "");
}

TEST_CASE("an author's file that cannot be read is an error and no diagnostic") {
    const Place place;
    const auto compiler = open_host_compiler(std::make_shared<Cache>(place.path() / "cache"));
    CHECK_THROWS_AS(compiler->compile(program(place.path() / "gone.cu")), Error);
    CHECK_THROWS_AS(compiler->compile(program(place.path())), Error);
}

TEST_CASE("a path below the current directory is shown from there") {
    Diagnostics wrong;
    wrong.list = {{(fs::current_path() / "env_sources" / "tag.cu").string(), 31, "no such member",
                   "    me.posx = 1;"}};
    CHECK(wrong.text() ==
          "env_sources/tag.cu:31: error: no such member\n    31 |     me.posx = 1;\n");
    wrong.list = {{"/elsewhere/tag.cu", 0, "the file is empty", ""}};
    CHECK(wrong.text() == "/elsewhere/tag.cu: error: the file is empty\n");
    CHECK(Diagnostics{}.text() == "");
}

TEST_CASE("what a plugin got wrong stands in its own text, by its name") {
    Compilers compilers;
    ProgramSource source = program(compilers.write("tag.cu", author_text("s.x = 1;")));
    const auto expect = [&](const std::string& header, const std::string& text,
                            const std::string& file, int line, const std::string& excerpt) {
        ProgramSource given = source;
        given.headers.push_back({"probe/kernels.h", header});
        given.given_by = "probe";
        given.given_headers = 1;
        given.instantiation = text + given.instantiation;
        compilers.each(given, [&](const std::string&, const Diagnostics& wrong) {
            CHECK(wrong.list.front().file == file);
            CHECK(wrong.list.front().line == line);
            CHECK(wrong.list.front().excerpt == excerpt);
            CHECK(has(wrong.list.front().message, "nowhere"));
            CHECK(wrong.list.size() == 1);
            CHECK(has(wrong.text(), file + ":" + std::to_string(line) + ": error: "));
        });
    };
    expect("", "\n\nint broken = nowhere;\n", "the program of probe", 3, "int broken = nowhere;");
    expect("// Good.\ninline int one() { return nowhere; }\n", "#include <probe/kernels.h>\n",
           "probe/kernels.h of probe", 2, "inline int one() { return nowhere; }");
    // In a template of the plugin's, far from the place that uses it.
    expect("template <class T>\nint of(T t) {\n    return t.nowhere;\n}\n",
           "#include <probe/kernels.h>\ninline int two() { return of(Tag::State{}); }\n",
           "probe/kernels.h of probe", 3, "    return t.nowhere;");
}
