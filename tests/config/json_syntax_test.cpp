#include "engine/config/config.h"
#include "tests/base/helpers.h"

#include <doctest/doctest.h>
#include <random>
#include <string>

using namespace nacelle;
using namespace nacelle::test;

namespace {

std::string error_for(const std::string& text) {
    return error_of([&] { parse_json(text, "run.json"); });
}

}

TEST_CASE("a JSON text is parsed") {
    CHECK(parse_json("{\"a\": [1, 2.5, \"x\", null, true, {}]}", "")["a"].size() == 6);
    CHECK(parse_json("\xef\xbb\xbf{\"a\": 1}", "")["a"] == 1);
    CHECK(parse_json("{\"a\": {\"x\": 1}, \"b\": {\"x\": 1}}", "").size() == 2);
}

TEST_CASE("a syntax error names line and column of the wrong word") {
    CHECK(error_for("{\n  \"seed\": 1,\n  \"backend\": cuda\n}") ==
          "run.json:3:14: expected a value, found cuda");
    CHECK(error_for("{\n  \"a\": 1\n  \"bcd\": 2\n}") ==
          "run.json:3:3: expected ',' or '}', found \"bcd\"");
    CHECK(error_for("{\"\xc3\xa4\xe2\x82\xac\": x}") == "run.json:1:8: expected a value, found x");
    CHECK(error_for("\xef\xbb\xbf{\"a\":}") == "run.json:1:6: expected a value, found }");
}

TEST_CASE("what stands in the wrong place is named with what belongs there") {
    CHECK(error_for("{\"a\" 1}") == "run.json:1:6: expected ':' after the key, found 1");
    CHECK(error_for("{\"a\":1,\"b\"}") == "run.json:1:11: expected ':' after the key, found }");
    CHECK(error_for("{a: 1}") == "run.json:1:2: expected a key in double quotes, found a");
    CHECK(error_for("{'a': 1}") == "run.json:1:2: expected a key in double quotes, found '");
    CHECK(error_for("{,}") == "run.json:1:2: expected a key in double quotes, found ,");
    CHECK(error_for("[1 2]") == "run.json:1:4: expected ',' or ']', found 2");
    CHECK(error_for("[1, , 2]") == "run.json:1:5: expected a value, found ,");
    CHECK(error_for("{\"a\": 01}") == "run.json:1:7: expected a value, found 01");
    CHECK(error_for("{\"a\": 1} {}") == "run.json:1:10: expected the end of the file, found {");
    CHECK(error_for("{\"a\": 1}}") == "run.json:1:9: expected the end of the file, found }");
    CHECK(error_for("}") == "run.json:1:1: expected a value, found }");
}

TEST_CASE("words and numbers of other languages are shown whole") {
    CHECK(error_for("{\"a\": True}") == "run.json:1:7: expected a value, found True");
    CHECK(error_for("{\"a\": nil}") == "run.json:1:7: expected a value, found nil");
    CHECK(error_for("{\"a\": NaN}") == "run.json:1:7: expected a value, found NaN");
    CHECK(error_for("{\"a\": -Infinity}") == "run.json:1:7: expected a value, found -Infinity");
    CHECK(error_for("{\"a\": .5}") == "run.json:1:7: expected a value, found .5");
    CHECK(error_for("{\"a\": 1.}") == "run.json:1:7: expected a value, found 1.");
    CHECK(error_for("{\"a\": 1e999}") == "run.json:1:7: the number is too large");
    CHECK(error_for("[" + std::string(99, 'x')) ==
          "run.json:1:2: expected a value, found " + std::string(40, 'x') + "...");
}

TEST_CASE("common slips have sentences of their own") {
    CHECK(error_for("{\"a\": 1,}") == "run.json:1:9: a comma too much before '}'");
    CHECK(error_for("[1,\n]") == "run.json:2:1: a comma too much before ']'");
    CHECK(error_for("// seed\n{}") == "run.json:1:1: comments are no part of JSON");
    CHECK(error_for("{} # end") == "run.json:1:4: comments are no part of JSON");
    CHECK(error_for("") == "run.json:1:1: the file is empty");
    CHECK(error_for(" \n ") == "run.json:2:2: the file is empty");
    CHECK(error_for("{\"a\": [1") == "run.json:1:9: the file ends before the last ']'");
    CHECK(error_for("{\"a\": ") == "run.json:1:7: the file ends before the last '}'");
}

TEST_CASE("damaged texts say what is wrong with them") {
    CHECK(error_for("{\"a\": \"x\n\"}") == "run.json:1:9: a text is not closed with '\"'");
    CHECK(error_for("{\"a\": \"x") == "run.json:1:9: a text is not closed with '\"'");
    CHECK(error_for("[\"\t\"]") == "run.json:1:3: a control character in a text");
    CHECK(error_for("[\"\xff\"]") == "run.json:1:3: a text that is not UTF-8");
    CHECK(error_for("[\"\xc3(\"]") == "run.json:1:4: a text that is not UTF-8");
    CHECK(error_for("[\"C:\\path\"]").starts_with("run.json:1:6: a backslash that starts none of"));
    CHECK(error_for(std::string("[\0]", 3)) == "run.json:1:2: a NUL byte");
}

// Behind a NUL byte the library reads nothing, and a name with one is cut where it becomes a path.
TEST_CASE("nothing hides behind a NUL byte") {
    CHECK(error_for(std::string("{}\n\0{\"seed\": 3}", 15)) == "run.json:2:1: a NUL byte");
    CHECK(error_for(R"({"a": {"b": "x\u0000y"}})") == "run.json: 'a.b' holds \\u0000");
    CHECK(error_for(R"({"a": {"\u0000": 1}})") == "run.json: a key holds \\u0000");
    CHECK_FALSE(try_parse_json(std::string("{}\0", 3)));
}

TEST_CASE("a text may be nested up to a depth that every reader can follow") {
    const auto nested = [](size_t depth, const std::string& open, const std::string& close) {
        std::string text;
        for (size_t i = 0; i < depth; ++i) text += open;
        text += "1";
        for (size_t i = 0; i < depth; ++i) text += close;
        return text;
    };
    CHECK(error_for(nested(most_json_depth, "[", "]")).empty());
    CHECK(try_parse_json(nested(most_json_depth, "{\"a\":", "}")));
    CHECK(error_for(nested(most_json_depth + 1, "[", "]")) ==
          "run.json:1:101: nested deeper than 100 levels");
    CHECK(error_for(nested(100000, "{\"a\":", "}")).ends_with("nested deeper than 100 levels"));
    CHECK_FALSE(try_parse_json(nested(100000, "[", "]")));
    CHECK_FALSE(try_parse_json(std::string(1000000, '[')));
    // Brackets within texts are none.
    CHECK(try_parse_json("[\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '[') + "\"]"));
}

TEST_CASE("a key that stands twice is an error with its path") {
    CHECK(error_for("{\"env\": {\"count\": 1, \"count\": 2}}") ==
          "run.json: 'env.count' stands twice");
    CHECK(error_for(R"({"a": [{"b": 1}, {"b": 1, "b": 2}]})") == "run.json: 'a.b' stands twice");
}

TEST_CASE("no damage to a text brings forth the library's own words") {
    const std::string whole = R"({"env": {"count": 4096, "gravity": [8.5, -1e3], "on": true},
        "name": "p\u00e4n \"x\"", "none": null, "list": [[], {}]})";
    std::mt19937 random(std::random_device{}());
    for (int trial = 0; trial < 20000; ++trial) {
        std::string text = whole;
        const size_t at = random() % text.size();
        if (trial % 3 == 0) text.erase(at, 1 + random() % 4);
        else if (trial % 3 == 1) text[at] = static_cast<char>(random());
        else text.resize(at);
        const std::string error = error_for(text);
        INFO(text);
        CHECK(error.find("json.exception") == error.npos);
        CHECK(error.empty() == Json::accept(text));
    }
}
