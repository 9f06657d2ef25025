#include <doctest/doctest.h>
#include <nacelle/plugin/config.h>
#include <nlohmann/json.hpp>

using nacelle::plugin::Config;

namespace {

template <class Fn> std::string failure(Fn fn) {
    try {
        fn();
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return {};
}

}

TEST_CASE("a plugin reads its configuration key by key") {
    Config config(R"( { "rate" : -2.5e-3, "steps": 128, "name":"ppo", "on":true, "hidden":[64, 32],
                        "inner": {"deep": {"x": 1}}, "nothing": null } )");
    CHECK(config.number("rate", 0) == -0.0025);
    CHECK(config.integer("steps", 0, 1, 1000) == 128);
    CHECK(config.text("name", "") == "ppo");
    CHECK(config.flag("on", false));
    CHECK(config.numbers("hidden", {}) == std::vector<double>{64, 32});
    Config inner = config.object("inner");
    CHECK(inner.object("deep").number("x", 0) == 1);
    inner.finish();
    CHECK(config.has("nothing"));
    CHECK_FALSE(config.has("else"));
    CHECK(config.number("absent", 7) == 7);
    CHECK(config.object("empty").text("any", "no") == "no");
    config.finish();
}

TEST_CASE("a plugin reads every text that JSON can write") {
    const std::string text =
        "quote \" slash \\ / line\n tab\t bell\x07 umlaut \xc3\xa4 face \xf0\x9f\x98\x80";
    for (const bool ascii : {false, true})
        CHECK(Config(nlohmann::json{{"key", text}}.dump(-1, ' ', ascii)).text("key", "") == text);
}

TEST_CASE("a plugin's configuration is refused with the path of what is wrong") {
    Config config(
        R"({"rate": "fast", "steps": 1.5, "hidden": [1, "a"], "inner": {"deep": 1}, "extra": 1})");
    CHECK(failure([&] { config.number("rate", 0); }) == "rate: expected a number");
    CHECK(failure([&] { config.integer("steps", 0, 0, 10); }) == "steps: expected a whole number");
    CHECK(failure([&] { config.integer("steps", 0, 2, 10); }) ==
          "steps: expected a number from 2 to 10");
    CHECK(failure([&] { config.numbers("hidden", {}); }) == "hidden: expected a list of numbers");
    CHECK(failure([&] { config.object("inner").text("deep", ""); }) ==
          "inner.deep: expected a text");
    CHECK(failure([&] { config.object("inner").finish(); }) ==
          "inner.deep: there is no such setting (there is: )");
    CHECK(failure([&] {
              config.finish();
          }).starts_with("extra: there is no such setting (there is: rate, steps"));
}

TEST_CASE("a plugin refuses what is no JSON") {
    for (const std::string text :
         {"", "[]", "{", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":+1}", "{\"a\":nan}", "{a:1}",
          "{\"a\":\"x}", "{\"a\":\"\\q\"}", "{\"a\":\"\\u12\"}", "{\"a\":\"\\ud800\"}", "{} {}",
          "{\"a\":tru}", "{\"a\":1"})
        CHECK_MESSAGE(!failure([&] { Config config(text); }).empty(), text);
    CHECK(!failure([] { Config config(std::string(100000, '[')); }).empty());
}
