#include "engine/jit/author_mistakes.h"
#include "engine/jit/compiler_output.h"
#include "engine/jit/diagnostics.h"
#include "tests/jit/fixture.h"

#include <doctest/doctest.h>

using namespace nacelle;

TEST_CASE("g++ names a context once for all errors in it") {
    const auto reports = parse_gnu_output(
        "In file included from a.h:7,\n                 from unit.cpp:1:\n"
        "sdk.h: In instantiation of ‘void f(T&) [with T = S]’:\n"
        "sdk.h:9:2:   required from ‘void g(T&) [with T = S]’\n"
        "tag.cu:4:20:   required from here\n"
        "sdk.h:16:69: error: cannot bind bit-field ‘a’ to ‘int&’\n   16 | take(a): 3:4: error: no\n"
        "sdk.h:17:69: error: cannot bind bit-field ‘b’ to ‘int&’\n"
        "sdk.h: In function ‘int k()’:\n"
        "sdk.h:20:1: error: third\nsdk.h:21:1: warning: not this\ntag.cu:1:2: note: declared "
        "here\n");
    REQUIRE(reports.size() == 4);
    CHECK(reports[0].message == "cannot bind bit-field 'a' to 'int&'");
    CHECK(reports[0].place.file == "sdk.h");
    CHECK(reports[0].place.line == 16);
    REQUIRE(reports[1].instantiated_from.size() == 2);
    CHECK(reports[1].instantiated_from[1].file == "tag.cu");
    CHECK(reports[1].instantiated_from[1].line == 4);
    CHECK(reports[2].instantiated_from.empty());
    CHECK(reports[0].included_from.size() == 2);
    CHECK_FALSE(reports[3].error);
    CHECK(reports[3].notes.size() == 1);
}

TEST_CASE("clang names the chain after the error") {
    const auto reports = parse_gnu_output(
        "In file included from unit.cpp:1:\nIn file included from tag.cu:1:\n"
        "sdk.h:10:48: error: member reference base type 'int' is not a structure or union\n"
        "sdk.h:11:45: note: in instantiation of function template specialization 'add<int>' "
        "requested here\n"
        "tag.cu:4:20: note: in instantiation of function template specialization 'deeper<int>' "
        "requested here\n"
        "tag.cu:2:1: note: declared here\n1 error generated.\n");
    REQUIRE(reports.size() == 1);
    REQUIRE(reports[0].instantiated_from.size() == 2);
    CHECK(reports[0].instantiated_from[1].line == 4);
    CHECK(reports[0].included_from[0].file == "tag.cu");
    CHECK(reports[0].notes.size() == 1);
}

TEST_CASE("a compiler's own failure has no place") {
    const auto reports =
        parse_gnu_output("cc1plus: error: bad value (‘nonsense’) for ‘-march=’ switch\nclang: "
                         "error: unknown argument: '-x'\n"
                         "g++: fatal error: Killed signal terminated program cc1plus\n");
    REQUIRE(reports.size() == 3);
    CHECK(reports[0].place.file.empty());
    CHECK(reports[2].message == "Killed signal terminated program cc1plus");
}

TEST_CASE("NVRTC leaves the file out of a frame that is in the last one's") {
    const auto reports = parse_nvrtc_log(
        "sdk.h(10): error #20-D: identifier \"x\" is undefined\n  code\n  ^\n          detected "
        "during:\n"
        "            instantiation of \"int add(T, T) [with T=int]\" at line 11\n"
        "            instantiation of \"int deeper(T)\" at line 4 of /a b/tag (1).cu\n\n"
        "/a b/tag (1).cu(7): error: no instance of function \"f\" matches the argument list\n"
        "            argument types are: (int)\n  f(1);\n  ^\n\n"
        "At end of source: error: expected a \"}\"\n/a b/tag (1).cu(2): note #3196-D: to match "
        "this \"{\"\n\n"
        "tag.cu(9): warning #177-D: variable \"y\" was declared but never referenced\n\n"
        "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n3 "
        "errors detected\n");
    REQUIRE(reports.size() == 4);
    CHECK(reports[0].message == "identifier \"x\" is undefined");
    REQUIRE(reports[0].instantiated_from.size() == 2);
    CHECK(reports[0].instantiated_from[0].file == "sdk.h");
    CHECK(reports[0].instantiated_from[1].file == "/a b/tag (1).cu");
    CHECK(reports[0].instantiated_from[1].line == 4);
    CHECK(reports[1].message ==
          "no instance of function \"f\" matches the argument list; argument types are: (int)");
    CHECK(reports[2].place.file.empty());
    REQUIRE(reports[2].notes.size() == 1);
    CHECK(reports[2].notes[0].line == 2);
    CHECK_FALSE(reports[3].error);
}

TEST_CASE("output that is cut or garbled is no trouble") {
    for (const char* text : {"", "\n", ":", "a:", "a:1", "a:1:", "a:1:2",
                             "a:1:2:", ":1:2: error: x", "In file included from ",
                             "(1): error: ", "a(): error: x", "a(99999999999999999999): error: x",
                             "At end of source: ", "x at line ", ": error: ", "\xff\xfe"}) {
        CAPTURE(text);
        CHECK(parse_gnu_output(text).size() <= 1);
        CHECK(parse_nvrtc_log(text).size() <= 1);
    }
}

TEST_CASE("the words of a static_assert are found in every compiler's message") {
    CHECK(assertion_message("static assertion failed: State has a pointer") ==
          "State has a pointer");
    CHECK(assertion_message("static assertion failed with \"State has a \\\"pointer\\\"\"") ==
          "State has a \"pointer\"");
    CHECK(
        assertion_message("static_assert failed due to requirement 'sizeof(Tag) > 'a'' \"State has "
                          "a \\\"pointer\\\"\"") == "State has a \"pointer\"");
    CHECK(assertion_message("static_assert failed \"State has a pointer\"") ==
          "State has a pointer");
    CHECK(assertion_message(
              "static assertion failed due to requirement 'ok<Tag>': State has a pointer") ==
          "State has a pointer");
    CHECK_FALSE(assertion_message("static assertion failed"));
    CHECK_FALSE(assertion_message("static_assert failed due to requirement 'x'"));
    CHECK_FALSE(assertion_message("expected ';'"));
}

TEST_CASE("raw words are recognised") {
    CHECK(recognise_mistake("cannot bind bit-field 's.a' to 'int&'", "") ==
          AuthorMistake::bit_field);
    CHECK(recognise_mistake("taking the address of a bit field is not allowed", "") ==
          AuthorMistake::bit_field);
    CHECK(recognise_mistake("type \"Tag::State\" has no components to bind to", "") ==
          AuthorMistake::anonymous_struct);
    CHECK(recognise_mistake(
              "cannot decompose class type 'Tag::State' because it has an anonymous struct member",
              "") == AuthorMistake::anonymous_struct);
    CHECK(recognise_mistake("invalid cast from type 'std::array<int, 3>' to type 'int'", "") ==
          AuthorMistake::std_array);
    CHECK(recognise_mistake("qualified name is not allowed", "  std::array<int, 3> x;") ==
          AuthorMistake::std_array);
    CHECK(recognise_mistake("qualified name is not allowed", "  std::vector<int> x;") ==
          AuthorMistake::no_standard_library);
    CHECK(recognise_mistake("cannot open source file \"array\"", "#include <array>") ==
          AuthorMistake::std_array);
    CHECK(recognise_mistake("cannot open source file \"vector\"", "#include <vector>") ==
          AuthorMistake::no_standard_library);
    CHECK_FALSE(recognise_mistake("cannot open source file \"helper.h\"", "#include \"helper.h\""));
    CHECK(recognise_mistake("'nacelle_author' was not declared in this scope", "") ==
          AuthorMistake::no_environment);
    CHECK(recognise_mistake("namespace \"nacelle\" has no member \"Author\"", "") ==
          AuthorMistake::no_environment);
    CHECK(recognise_mistake("'Author' is not a member of 'nacelle'", "") ==
          AuthorMistake::no_environment);
    CHECK(recognise_mistake("no type named 'Author' in namespace 'nacelle'", "") ==
          AuthorMistake::no_environment);
    CHECK(recognise_mistake("conflicting declaration 'using nacelle_author = struct Pond'", "") ==
          AuthorMistake::two_environments);
    CHECK(recognise_mistake("type alias redefinition with different types ('Pond' vs 'Tag')",
                            "NACELLE_ENV(Pond)") == AuthorMistake::two_environments);
    CHECK(recognise_mistake("invalid redeclaration of type name \"Author\" (declared at line 8)",
                            "") == AuthorMistake::two_environments);
    CHECK_FALSE(recognise_mistake("class \"Tag::State\" has no member \"posx\"", "s.posx = 1;"));
}

TEST_CASE("a failure without a message still says something") {
    const std::vector<SourceFile> closure = {
        {"/envs/tag.cu", "#include <nacelle/env.h>\nNACELLE_ENV(Tag)\n"}};
    const CompiledText text{closure, "", "kernels"};
    CHECK(diagnose({}, "/usr/bin/ld: cannot find -lm\n\n", text).text() ==
          "/envs/tag.cu: error: the compiler failed: /usr/bin/ld: cannot find -lm\n");
    CHECK(diagnose({}, "", text).text() ==
          "/envs/tag.cu: error: the compiler failed and said nothing\n");
}
