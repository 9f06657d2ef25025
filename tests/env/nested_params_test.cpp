#include "tests/env/authors.h"
#include "tests/env/workbench.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

using Numbers = std::vector<double>;

Environment plant_env(const Folder& folder, Json params = Json::object()) {
    return Environment(cpu(), settings_of({{"source", folder.write("plant.cu", plant)},
                                           {"count", 1},
                                           {"params", std::move(params)}}));
}

}

TEST_CASE("an array in an array of structs is set by itself, and nothing beside it") {
    const Folder folder;
    Environment env = plant_env(folder);
    CHECK(env.param("pump.flow") == Json({1, 1}));
    CHECK(env.param("pump.leak") == Json({0.25, 0.5, 0.25, 0.5}));
    env.set_param("pump.leak", {5, 6, 7, 8});
    CHECK(env.param("pump.leak") == Json({5, 6, 7, 8}));
    CHECK(env.param("pump.flow") == Json({1, 1}));
    env.set_param("pump.flow", {2, 3});
    env.step();
    CHECK(numbers(env, "state.flow") == Numbers{2, 3});
    CHECK(numbers(env, "state.leak") == Numbers{5, 6, 7, 8});
    CHECK(numbers(env, "state.grid") == Numbers{1, 2, 3, 4, 5, 6});
    CHECK(numbers(env, "state.last") == Numbers{9});
}

TEST_CASE("a drawn array in an array of structs gets the numbers that it is given") {
    const Folder folder;
    Environment env = plant_env(folder, {{"pump", {{"leak", {{"uniform", {2, 3}}}}}}});
    for (const double leak : numbers(env, "state.leak")) {
        CHECK(leak >= 2);
        CHECK(leak < 3);
    }
    CHECK(numbers(env, "state.leak") == numbers(env, "param.pump.leak"));
    CHECK(numbers(env, "state.flow") == Numbers{1, 1});
    env.set_param("pump.leak", {5, 6, 7, 8});
    CHECK(numbers(env, "param.pump.leak") == Numbers{5, 6, 7, 8});
    env.step();
    CHECK(numbers(env, "state.leak") == Numbers{5, 6, 7, 8});
    CHECK(numbers(env, "state.flow") == Numbers{1, 1});
}

TEST_CASE("an array of several dimensions is set by lists in lists, as well as by one list") {
    const Folder folder;
    Environment env = plant_env(folder, {{"grid", {{9, 8, 7}, {6, 5, 4}}}});
    CHECK(env.param("grid") == Json({9, 8, 7, 6, 5, 4}));
    CHECK(numbers(env, "state.grid") == Numbers{9, 8, 7, 6, 5, 4});
    env.set_param("grid", {1, 2, 3, 4, 5, 6});
    CHECK(env.param("grid") == Json({1, 2, 3, 4, 5, 6}));
    env.set_param("pump.leak", {{5, 6}, {7, 8}});
    CHECK(env.param("pump.leak") == Json({5, 6, 7, 8}));
}

TEST_CASE("a list of another shape is refused with the shape that is wanted, and sets nothing") {
    const Folder folder;
    Environment env = plant_env(folder);
    const auto said = [&](const char* name, const Json& value) {
        return complaint([&] { env.set_param(name, value); });
    };
    const std::string wanted = "expected a number, 6 of them, or 2 lists of 3, found ";
    for (const Json& wrong :
         {Json({1, 2, 3}), Json({{1, 2}, {3, 4}, {5, 6}}), Json({{1, 2, 3}, {4, 5}}),
          Json({{1, 2, 3}, 4}), Json({{{1}, {2}, {3}}, {{4}, {5}, {6}}}), Json::array()}) {
        const std::string words = said("grid", wrong);
        CHECK_MESSAGE(contains(words, "env.params.grid: " + wanted + json_text(wrong)), words);
    }
    const std::string place = said("grid", {{9, 9, 9}, {9, 0.5, 9}});
    CHECK_MESSAGE(contains(place, "env.params.grid.1.1: expected a whole number, found 0.5"),
                  place);
    CHECK(contains(said("last", {1}), "expected one number, found [1]"));
    CHECK(contains(said("pump.flow", {1, 2, 3}), "expected a number or 2 of them, found"));
    CHECK(env.param("grid") == Json({1, 2, 3, 4, 5, 6}));
}
