#include "engine/view/drawing.h"
#include "tests/env/workbench.h"

#include <cstring>
#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

// Its draw() takes an index from what it is given.
constexpr const char* indexed = R"(#include <nacelle/env.h>
struct Indexed {
    static constexpr int time_limit = 20;
    struct Params { nacelle::Table<float, 4> table; };
    struct State { int at; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float x; };
    static void prepare(Params& p) { p.table.fill([](int i) { return float(i); }); }
    static void reset(State& s, const Params&, nacelle::Rng&) { s.at = 2; }
    static nacelle::Outcome step(State&, const Action&, const Params&, nacelle::Rng&) { return {}; }
    static Obs observe(const State& s, const Params&) { return {float(s.at)}; }
    static void draw(nacelle::Canvas& canvas, const State& s, const Params& p) {
        canvas.view(0, 0, 1, 1);
        canvas.disc(0, 0, p.table(s.at));
    }
};
NACELLE_ENV(Indexed)
)";

}

TEST_CASE("a draw() that is checked gives an Error where it would read outside") {
    const Folder folder;
    const std::filesystem::path file = folder.write("indexed.cu", indexed);
    Environment env(cpu(), settings_of({{"source", file.string()}, {"count", 1}}));
    Drawing plain(env);
    Scene scene = plain.copy(0);
    DrawProgram program(file, {.checked = true}, cache_place());
    const DisplayList list = program.paint(scene), same = plain.paint(scene);
    REQUIRE(list.shapes.size() == 1);
    CHECK(list.numbers_of(list.shapes[0])[2] == 2);
    CHECK(same.numbers == list.numbers);
    const auto said = [&](int at) {
        std::memcpy(scene.memory.data() + scene.find("state.at")->offset, &at, sizeof at);
        return complaint([&] { program.paint(scene); });
    };
    CHECK(said(4) == "Indexed: draw() was ended: index 4 is outside a Table of size 4 (it was not "
                     "written for the numbers that are recorded)");
    CHECK(contains(said(-1), "index -1 is outside a Table of size 4"));
    CHECK(said(3) == "");    // the next picture is whole
}

TEST_CASE("what decides on a layout never becomes code by itself") {
    const Folder folder;
    const std::filesystem::path file = folder.write("indexed.cu", indexed);
    CHECK(contains(
        complaint([&] { DrawProgram(file, {.varied = {"a\"};int x=f();//"}}, cache_place()); }),
        "indexed.cu: env.params: 'a\"};int x=f();//' is no name"));
    CHECK(contains(complaint([&] {
                       DrawProgram(file, {.constants = {{"a\",1}};//", 1}}}, cache_place());
                   }),
                   "indexed.cu: env.constants: 'a\",1}};//' is no name"));
}
