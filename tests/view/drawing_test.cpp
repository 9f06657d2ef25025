#include "engine/view/drawing.h"
#include "engine/view/svg.h"
#include "tests/sdk/probe.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

// Paints all that draw() can see, as numbers.
constexpr const char* painted = R"(#include <nacelle/env.h>
struct Painted {
    static constexpr int time_limit = 20, width = nacelle::constant("width", 2);
    struct Params { float scale = 3; int drawn = 1; nacelle::Table<float, 4> table; };
    struct State { float x; int list[width]; nacelle::Array<uint8_t, 2, 3> map; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { float x; };
    static void prepare(Params& p) { p.table.fill([](int i) { return 10.0f * float(i); }); }
    static void reset(State& s, const Params&, nacelle::Rng& rng) {
        s.x = rng.uniform();
        for (int& one : s.list) one = rng.below(100);
        s.map.fill([](int, int) -> uint8_t { return 0; });
    }
    static nacelle::Outcome step(State& s, const Action&, const Params&, nacelle::Rng&) { s.x += 1; return {}; }
    static Obs observe(const State& s, const Params&) { return {s.x}; }
    static void draw(nacelle::Canvas& canvas, const State& s, const Params& p) {
        canvas.view(0, 0, 1, 1);
        canvas.disc(s.x, p.scale, float(p.drawn));
        canvas.disc(float(s.list[0]), float(s.list[width - 1]), float(s.map(1, 2)));
        canvas.disc(p.table(1), p.table(3), 0);
        canvas.polygon({0, 0, 1, 0, s.x, 1});
    }
};
NACELLE_ENV(Painted)
)";

// Two groups, turns, an Array of each agent.
constexpr const char* team = R"(#include <nacelle/env.h>
struct Flock {
    static constexpr int time_limit = 20;
    struct Params { float scale = 3; };
    struct State { float wind; };
    struct Bird { static constexpr int count = 3; float x; nacelle::Array<float, 4> past; };
    struct Cat { static constexpr int count = 2; float x; };
    struct Action { nacelle::Discrete<3> go; };
    struct Obs { float x; };
    using Agents = nacelle::Groups<Bird, Cat>;
    using Team = nacelle::Team<Flock>;
    using B = nacelle::Member<Flock, Bird>;
    using C = nacelle::Member<Flock, Cat>;
    static void reset(Team& team, const Params&) {
        team.each([](B& me, nacelle::Rng& rng) { me.x = rng.uniform(); me.past.fill(0.0f); });
        team.each([](C& me, nacelle::Rng& rng) { me.x = rng.uniform(); });
        team.once([](State& s) { s.wind = 7; });
    }
    static nacelle::Ending step(Team& team, const Params&) {
        team.each([](B& me) { me.x += 1; me.past[me.id] = me.x; me.reward = float(me.id); });
        team.each([](C& me) { me.x -= 1; me.reward = -1; });
        return nacelle::Ending::running;
    }
    static Obs observe(const Team&, const B& me, const Params&) { return {me.x}; }
    static Obs observe(const Team&, const C& me, const Params&) { return {me.x}; }
    static void draw(nacelle::Canvas& canvas, const Team& team, const Params& p) {
        canvas.view(0, 0, 1, 1);
        canvas.disc(team.state().wind, p.scale, float(team.episode().step));
        for (int i = 0; i < 3; ++i) {
            const B& bird = team.get<Bird>(i);
            canvas.line(bird.x, bird.past[i], float(bird.action.go), bird.reward, nacelle::colours::red, float(bird.id));
        }
        for (int i = 0; i < 2; ++i) canvas.disc(team.get<Cat>(i).x, team.get<Cat>(i).reward, float(team.get<Cat>(i).acts));
    }
};
NACELLE_ENV(Flock)
)";

std::vector<float> shape(const DisplayList& list, size_t i) {
    REQUIRE(i < list.shapes.size());
    const auto numbers = list.numbers_of(list.shapes[i]);
    return {numbers.begin(), numbers.end()};
}

Json config(const std::filesystem::path& file, uint32_t count) {
    return {{"source", file.string()}, {"count", count}};
}

}

TEST_CASE("draw() sees the state, the parameters and the tables of its environment") {
    const Folder folder;
    Json settings = config(folder.write("painted.cu", painted), 5);
    settings["params"] = {{"scale", 4.5}, {"drawn", {{"uniform", {2, 1000}}}}};
    settings["constants"] = {{"width", 3}};
    Environment env(cpu(), settings_of(settings));
    write_numbers(env, "state.x", {0, 1, 2, 3, 4});
    write_numbers(env, "state.list", {10, 11, 12, 13, 14, 0, 0, 0, 0, 0, 30, 31, 32, 33, 34});
    const size_t cells = env.arrays()["state.map"].count();
    CHECK(cells == 30);
    // map(1, 2) is element 5 of 6; neighbouring environments lie side by side.
    std::vector<double> map(30, 0);
    for (size_t e = 0; e < 5; ++e) map[5 * 5 + e] = 50 + double(e);
    write_numbers(env, "state.map", map);
    Drawing drawing(env);
    CHECK(drawing.by_author());
    const std::vector<double> drawn = numbers(env, "param.drawn");
    for (const uint32_t which : {0u, 3u, 4u}) {
        const DisplayList list = drawing.draw(which);
        CAPTURE(which);
        const auto e = float(which);
        CHECK(shape(list, 0) == std::vector<float>{e, 4.5f, float(drawn[which])});
        CHECK(shape(list, 1) == std::vector<float>{10 + e, 30 + e, 50 + e});
        CHECK(shape(list, 2) == std::vector<float>{10, 30, 0});
    }
    // A parameter that is set while it runs is seen; a copy stays as it was.
    const Scene before = drawing.copy(2);
    env.set_param("scale", 9);
    env.step_at_random();
    CHECK(shape(drawing.paint(before), 0)[0] == 2);
    CHECK(shape(drawing.paint(before), 0)[1] == 4.5f);
    CHECK(shape(drawing.draw(2), 0)[0] == 3);
    CHECK(shape(drawing.draw(2), 0)[1] == 9);
    CHECK(contains(complaint([&] { drawing.draw(5); }),
                   "there is no environment 5 (there are 0 to 4)"));
}

TEST_CASE("draw() sees a team with its groups, the last actions and rewards") {
    const Folder folder;
    Environment env(cpu(), settings_of(config(folder.write("flock.cu", team), 4)));
    for (int i = 0; i < 3; ++i) env.step_at_random();
    Drawing drawing(env);
    for (const uint32_t which : {0u, 3u}) {
        const DisplayList list = drawing.draw(which);
        CAPTURE(which);
        REQUIRE(list.shapes.size() == 6);
        CHECK(shape(list, 0) == std::vector<float>{7, 3, 3});
        const std::vector<double> birds = numbers(env, "bird.x"),
                                  go = numbers(env, "bird.action.go"), cats = numbers(env, "cat.x");
        for (size_t i = 0; i < 3; ++i) {
            const auto x = float(birds[which * 3 + i]);
            CHECK(shape(list, 1 + i) ==
                  std::vector<float>{x, x, float(go[which * 3 + i]), float(i), float(i)});
        }
        for (size_t i = 0; i < 2; ++i)
            CHECK(shape(list, 4 + i) == std::vector<float>{float(cats[which * 2 + i]), -1, 1});
    }
}

TEST_CASE("every environment that comes with the engine has a picture of its own") {
    for (const std::string& name : all_environments()) {
        CAPTURE(name);
        Environment env(cpu(), recommended(name, 2));
        for (int i = 0; i < 3; ++i) env.step_at_random();
        Drawing drawing(env);
        CHECK(drawing.by_author());
        const DisplayList one = drawing.draw(0), other = drawing.draw(1);
        CHECK(one.shapes.size() >= 4);
        CHECK(one.dropped == 0);
        CHECK(svg_text(one, name) == svg_text(drawing.draw(0), name));
        // The board of a game that has begun alike is alike.
        if (name != "tag_gridworld" && name != "connect_four")
            CHECK(svg_text(one, name) != svg_text(other, name));
    }
}

TEST_CASE("what steps has none of draw()") {
    const Folder folder;
    const auto file = folder.write("painted.cu", painted);
    for (NamedCompiler& one : both_compilers()) {
        const Compiled compiled = one.compiler->compile(stepwise_program(file));
        CAPTURE(one.name);
        const auto* const binary = std::get_if<Binary>(&compiled);
        REQUIRE(binary);
        const auto elf = binary->elf();
        const std::string text(reinterpret_cast<const char*>(elf.data()), elf.size());
        CHECK(contains(text, "nacelle_step"));
        CHECK(contains(text, "nacelle_params"));
        CHECK(!contains(text, "4draw"));
        CHECK(!contains(text, "6Canvas"));
    }
}

TEST_CASE("a draw() that fails to compile says so at the author's line") {
    const Folder folder;
    std::string text = painted;
    const std::string call = "canvas.disc(s.x, p.scale, float(p.drawn));";
    text.replace(text.find(call), call.size(), "canvas.circle(s.x, p.scale, 1.0f);");
    const auto file = folder.write("wrong.cu", text);
    CHECK(contains(complaint([&] { Environment env(cpu(), settings_of(config(file, 1))); }),
                   "wrong.cu:18: error: "));
}
