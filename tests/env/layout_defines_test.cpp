#include "engine/compile/layout_defines.h"

#include "tests/env/workbench.h"

#include <cmath>
#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

TEST_CASE("a name is identifiers with dots between them") {
    for (const char* const name : {"a", "_", "map", "state.pos.x", "Taggers_2", "größe", "in.a1"})
        CHECK_MESSAGE(is_dotted_name(name), name);
    for (const char* const name :
         {"", ".", "a.", ".a", "a..b", "2a", "a.0", "a b", "a\"b", "a,b", "a\\", "a-b", "a\n",
          "a\x1b[m", "a/b", "a{", "a}", "a\xff", "a\xc2\x9b"})
        CHECK_MESSAGE(!is_dotted_name(name), name);
}

TEST_CASE("what decides on the layout is written as code from names and numbers alone") {
    using Defines = std::vector<std::string>;
    CHECK(layout_defines({}, {}, {}, "here").empty());
    CHECK(layout_defines({{"taggers", 5}, {"near", -0.1}}, {}, {}, "here") ==
          Defines{R"(NACELLE_CONSTANTS={"near",-1e-01},{"taggers",5e+00},)"});
    CHECK(layout_defines({}, {"mass", "joints.angle"}, {}, "here") ==
          Defines{R"(NACELLE_VARIED="joints.angle","mass",)"});
    CHECK(complaint([] {
              layout_defines({{"a\",1}};int x=f();//", 1}}, {}, {}, "here");
          }) ==
          "here: env.constants: 'a\",1}};int x=f();//' is no name (a name has letters, digits and "
          "'_', and dots between its parts)");
    CHECK(contains(complaint([] { layout_defines({}, {"a\"};int x=f();//"}, {}, "here"); }),
                   "here: env.params: 'a\"};int x=f();//' is no name"));
    for (const double number : {double(INFINITY), std::nan("")})
        CHECK(complaint([&] {
                  layout_defines({{"a", number}}, {}, {}, "here");
              }) == "here: env.constants.a: is no finite number");
}

TEST_CASE("a configuration's parameters and constants become code by names alone") {
    const auto said = [](const Json& env) {
        return complaint([&] { Environment one(cpu(), settings_of(env)); });
    };
    CHECK(contains(
        said(
            {{"source", "cartpole"}, {"count", 1}, {"params", {{"a\"};", {{"uniform", {1, 2}}}}}}}),
        "env.params: 'a\"};' is no name"));
    const Folder folder;
    std::string text = read_file(env_folder / "cartpole.cu");
    const std::string before = "struct CartPole {";
    text.replace(text.find(before), before.size(),
                 before + " static constexpr int more = nacelle::constant(\"how many\", 2);");
    CHECK(contains(said({{"source", folder.write("pole.cu", text).string()},
                         {"count", 1},
                         {"constants", {{"how many", 3}}}}),
                   "env.constants: 'how many' is no name"));
}
