#include "engine/config/config.h"

#include "tests/base/helpers.h"

#include <doctest/doctest.h>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace nacelle;
using namespace nacelle::test;

namespace {

Config config(const std::string& text) { return Config(Json::parse(text), "run.json", "env"); }

// The error of one question to {"key": VALUE}.
std::string error_for(const std::string& value, const auto& ask) {
    Config made = config("{\"key\": " + value + "}");
    return error_of([&] { ask(made); });
}

}

TEST_CASE("a value that is there is read, and one that is not is its fallback") {
    Config made = config(R"({"a": 2.5, "b": 7, "c": true, "d": "x", "e": ["p", "q"], "f": [1]})");
    CHECK(made.number("a", 0) == 2.5);
    CHECK(made.number("b", 0) == 7.0);
    CHECK(made.integer("b", 0, 0, 10) == 7);
    CHECK(made.flag("c", false));
    CHECK(made.text("d", "") == "x");
    CHECK(made.choice("d", "y", {"x", "y"}) == "x");
    CHECK(made.texts("e", {}) == std::vector<std::string>{"p", "q"});
    CHECK(made.any("f") == Json::parse("[1]"));
    CHECK(made.keys() == std::vector<std::string>{"a", "b", "c", "d", "e", "f"});
    CHECK(made.has("a"));
    made.finish("env");

    CHECK(made.number("z", 1.5) == 1.5);
    CHECK(made.integer("z", 3, 0, 10) == 3);
    CHECK(made.flag("z", true));
    CHECK(made.text("z", "t") == "t");
    CHECK(made.choice("z", "y", {"x", "y"}) == "y");
    CHECK(made.texts("z", {"t"}) == std::vector<std::string>{"t"});
    CHECK(made.any("z", 5) == 5);
    CHECK(made.any("z").is_null());
    CHECK(made.object("z").keys().empty());
    CHECK_FALSE(made.has("z"));
}

TEST_CASE("every whole number of 64 bits is read exactly") {
    std::mt19937_64 random(std::random_device{}());
    using Limits = std::numeric_limits<int64_t>;
    std::vector<int64_t> numbers{Limits::min(), -1, 0, 1, Limits::max()};
    for (int i = 0; i < 100; ++i) numbers.push_back(static_cast<int64_t>(random()));
    for (const int64_t number : numbers) {
        Config made = config("{\"key\": " + std::to_string(number) + "}");
        CHECK(made.integer("key", 5, Limits::min(), Limits::max()) == number);
    }
}

TEST_CASE("a whole number may be written with an exponent") {
    CHECK(config(R"({"key": 5e6})").integer("key", 0, 0, 10000000) == 5000000);
    CHECK(config(R"({"key": -3.0})").integer("key", 0, -5, 5) == -3);
}

TEST_CASE("a wrong whole number says what was expected and what was found") {
    const auto ask = [](Config& made) { made.integer("key", 1, 1, 16777216); };
    const std::string expected = "run.json: env.key: expected a whole number from 1 to 16777216, ";
    CHECK(error_for("\"many\"", ask) == expected + "found \"many\"");
    CHECK(error_for("3.5", ask) == expected + "found 3.5");
    CHECK(error_for("0", ask) == expected + "found 0");
    CHECK(error_for("16777217", ask) == expected + "found 16777217");
    CHECK(error_for("18446744073709551615", ask) == expected + "found 18446744073709551615");
    CHECK(error_for("1e300", ask) == expected + "found 1e+300");
    CHECK(error_for("true", ask) == expected + "found true");
    CHECK(error_for("null", ask) == expected + "found null");
    CHECK(error_for("[1, 2]", ask) == expected + "found [1,2]");
    CHECK(error_for("{\"a\": 1}", ask) == expected + "found an object");
    CHECK(error_for("\"" + std::string(100, 'x') + "\"", ask) ==
          expected + "found a text of 102 bytes");
    CHECK(error_for(Json(std::vector<int>(100)).dump(), ask) == expected + "found a list");
}

TEST_CASE("a wrong number says what was expected and what was found") {
    const auto any = [](Config& made) { made.number("key", 0); };
    const auto share = [](Config& made) { made.number("key", 0, 0, 0.5); };
    const auto positive = [](Config& made) { made.number("key", 0, 1e-8); };
    const auto negative = [](Config& made) { made.number("key", 0, -1e308, -1); };
    CHECK(error_for("\"1\"", any) == "run.json: env.key: expected a number, found \"1\"");
    CHECK(error_for("1.7e308", any).empty());
    CHECK(error_for("0.6", share) ==
          "run.json: env.key: expected a number from 0 to 0.5, found 0.6");
    CHECK(error_for("0", positive) ==
          "run.json: env.key: expected a number of at least 1e-08, found 0");
    CHECK(error_for("0", negative) ==
          "run.json: env.key: expected a number of at most -1, found 0");
    CHECK(error_for("0.5", share).empty());
}

TEST_CASE("numbers that are not finite are errors wherever they come from") {
    Json json;
    json["infinite"] = std::numeric_limits<double>::infinity();
    json["not"] = std::numeric_limits<double>::quiet_NaN();
    Config made(json, "host");
    CHECK(error_of([&] { made.number("infinite", 0); }) ==
          "host: infinite: expected a number, found inf");
    CHECK(error_of([&] { made.number("not", 0); }) == "host: not: expected a number, found nan");
    CHECK(error_of([&] { made.integer("not", 0, 0, 1); }) ==
          "host: not: expected a whole number from 0 to 1, found nan");
}

TEST_CASE("wrong flags, texts, lists and objects say what was expected") {
    CHECK(error_for("1", [](Config& made) { made.flag("key", true); }) ==
          "run.json: env.key: expected true or false, found 1");
    CHECK(error_for("1", [](Config& made) { made.text("key", ""); }) ==
          "run.json: env.key: expected a text, found 1");
    CHECK(error_for("\"jsonl\"", [](Config& made) { made.texts("key", {}); }) ==
          "run.json: env.key: expected a list of texts, found \"jsonl\"");
    CHECK(error_for("[\"a\", 3]", [](Config& made) { made.texts("key", {}); }) ==
          "run.json: env.key[1]: expected a text, found 3");
    CHECK(error_for("[1]", [](Config& made) { made.object("key"); }) ==
          "run.json: env.key: expected an object, found [1]");
    CHECK(error_for("null", [](Config& made) { made.object("key"); }) ==
          "run.json: env.key: expected an object, found null");
    CHECK(error_of([] { Config(5, "run.json"); }) == "run.json: expected an object, found 5");
}

TEST_CASE("a wrong choice lists the choices and names the nearest") {
    const auto ask = [](Config& made) { made.choice("key", "keep", {"keep", "reset"}); };
    CHECK(error_for("\"kepe\"", ask) == "run.json: env.key: expected one of keep, reset; "
                                        "found \"kepe\" (did you mean 'keep'?)");
    CHECK(error_for("\"stop\"", ask) ==
          "run.json: env.key: expected one of keep, reset; found \"stop\"");
    CHECK(error_for("1", ask) == "run.json: env.key: expected one of keep, reset; found 1");
}

TEST_CASE("bytes that are no UTF-8 do not break a message") {
    Json json;
    json["key"] = "\xff";
    Config made(json, "host");
    CHECK(error_of([&] { made.number("key", 0); }).starts_with("host: key: expected a number"));
}

TEST_CASE("a key that nobody asked for is an error with the nearest known one") {
    Config root(Json::parse(R"({"env": {"params": {"gravity": 9, "gravty": 1}}})"), "run.json");
    Config env = root.object("env");
    Config params = env.object("params");
    params.number("gravity", 1);
    params.number("dt", 1);
    root.finish("run");
    env.finish("env");
    CHECK(error_of([&] { params.finish("CartPole"); }) ==
          "run.json: env.params.gravty: CartPole has no 'gravty' (did you mean 'gravity'?)");
}

TEST_CASE("a strange key lists the known ones, and none where there are none") {
    Config made = config(R"({"unheard": 1})");
    CHECK(error_of([&] { made.finish("env"); }) == "run.json: env.unheard: env has no 'unheard'");
    made.number("a", 0);
    made.has("b");
    CHECK(error_of([&] { made.finish("env"); }) ==
          "run.json: env.unheard: env has no 'unheard' (there is: a, b)");
}

TEST_CASE("an empty configuration is an object with nothing in it") {
    Config made(Json(), "run.json");
    CHECK(made.integer("seed", 1, 0, 10) == 1);
    made.finish("run");
}

TEST_CASE("a failure of the caller's own gets the path") {
    const Config made = config("{}");
    CHECK(error_of([&] { made.fail("count", "too many", "there are 3"); }) ==
          "run.json: env.count: too many (there are 3)");
    CHECK(error_of([&] { made.fail("", "too many"); }) == "run.json: env: too many");
}
