#include "engine/config/origins.h"

#include <doctest/doctest.h>

using namespace nacelle;

namespace {

Origins origins() {
    Origins known("quick.json");
    known.add_file("cartpole.json", Json::parse(R"({"env": {"count": 7}, "run": {"keep": 3}})"));
    known.add_file("quick.json", Json::parse(R"({"learner": {"gama": 1}, "run": {"keep": 0}})"));
    known.add_assignment("run.foo=1");
    known.add_assignment(R"(solved={"retrun": 4})");
    known.add_assignment("policies.default.hiden=[3]");
    return known;
}

std::string placed(const Error& error) { return origins().placed(error).what(); }

}

TEST_CASE("an error about a value names the option or the file that gave it") {
    CHECK(placed(Error("quick.json", "run.foo: run has no 'foo'", "there is: keep")) ==
          "--set run.foo: run has no 'foo' (there is: keep)");
    CHECK(placed(Error("quick.json", "solved.retrun: solved has no 'retrun'")) ==
          "--set solved: solved.retrun: solved has no 'retrun'");
    CHECK(placed(Error("quick.json: run.foo", "run has no 'foo'")) ==
          "--set run.foo: run has no 'foo'");
    CHECK(placed(Error("quick.json", "run.keep: expected more")) ==
          "quick.json: run.keep: expected more");
    CHECK(placed(Error("quick.json: env.count", "expected more")) ==
          "cartpole.json: env.count: expected more");
    CHECK(placed(Error("quick.json", "env.count: expected more")) ==
          "cartpole.json: env.count: expected more");
    CHECK(placed(Error("quick.json", "policies: none learns")) ==
          "--set policies.default.hiden: policies: none learns");
}

TEST_CASE("a learner's error is one about its part of the configuration") {
    CHECK(placed(Error("ppo", "gama: there is no such setting")) ==
          "quick.json: learner.gama: ppo: there is no such setting");
    CHECK(placed(Error("ppo", "policies.default.hiden: there is no such setting")) ==
          "--set policies.default.hiden: ppo: there is no such setting");
    Origins other("run.json");
    other.add_assignment("learner.name=mine");
    other.add_assignment("learner.speed=1");
    CHECK(std::string(other.placed(Error("mine", "speed: is too low")).what()) ==
          "--set learner.speed: mine: is too low");
}

TEST_CASE("an error about something else stays as it is") {
    CHECK(placed(Error("cartpole.cu", "run.foo: no")) == "cartpole.cu: run.foo: no");
    CHECK(placed(Error("quick.json", "run.nothing: no")) == "quick.json: run.nothing: no");
    CHECK(placed(Error("quick.json", "is empty")) == "quick.json: is empty");
    CHECK(placed(Error("ppo", "horizon: too long")) == "ppo: horizon: too long");
}
