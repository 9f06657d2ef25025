#include "engine/base/error.h"

#include <doctest/doctest.h>
#include <string>

using nacelle::Error;

TEST_CASE("an error says where, what, and what there is instead") {
    const Error error("run.json", "there is no 'a'", "there is: b");
    CHECK(std::string(error.what()) == "run.json: there is no 'a' (there is: b)");
    CHECK(error.where() == "run.json");
    CHECK(error.reason() == "there is no 'a'");
    CHECK(error.instead() == "there is: b");
}

TEST_CASE("an error without a place or an alternative leaves no marks of them") {
    CHECK(std::string(Error("ppo", "stopped").what()) == "ppo: stopped");
    CHECK(std::string(Error("", "stopped").what()) == "stopped");
}

TEST_CASE("an error with a zero byte is told to its end") {
    const std::string zero(1, '\0');
    CHECK(std::string_view(Error("cart" + zero + "pole", "is no name").what()) ==
          "cart\\0pole: is no name");
}
