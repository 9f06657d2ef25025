#include "tests/sdk/accepted.h"
#include "tests/sdk/everything.h"

#include <doctest/doctest.h>

// What an author may write: it compiles with both compilers, and both export the same table.
using namespace nacelle;
using namespace nacelle::test;

namespace {

std::string with_64_fields() {
    std::string state, obs;
    for (int i = 0; i < 64; ++i) state += "float f" + std::to_string(i) + "; ";
    for (int i = 0; i < 64; ++i) obs += "int8_t g" + std::to_string(i) + "; ";
    return Parts{.state = state, .obs = obs}.text();
}

// No Params, an empty State, a namespace, nobody's base, and a wide observation of any dimensions in place.
const char* const smallest = R"(#include <nacelle/env.h>
namespace worlds {
struct Smallest final {
    struct State {};
    struct Params {};
    struct Action { nacelle::Discrete<1> wait; };
    struct Obs { float wide[300], deep[2][1][2][1][2]; };
    static void reset(State&, const Params&, nacelle::Rng&) {}
    static nacelle::Outcome step(State&, const Action&, const Params&, nacelle::Rng&) { return {}; }
    static void observe(const State&, const Params&, Obs& o) { 
        for (float& x : o.wide) x = 1;
        for (int i = 0; i < 8; ++i) o.deep[i / 4][0][i / 2 % 2][0][i % 2] = 1;
    }
};
}
NACELLE_ENV(worlds::Smallest)
)";

}

TEST_CASE("every type of the vocabulary is stored under its own name, type and shape") {
    const EnvSchema schema = accepted(everything);
    const std::pair<const char*, const char*> forms[] = {
        {"param.gravity", "f32"},
        {"param.windy", "b8"},
        {"param.mode", "u8"},
        {"param.fine", "f64"},
        {"param.large", "i64"},
        {"param.larger", "u64"},
        {"param.small", "i8"},
        {"param.plain_long", "i64"},
        {"param.mass", "f32 2"},
        {"param.wind.y", "f32"},
        {"param.posts.x", "f32 2"},
        {"param.mazes", "u8 4 6 6"},
        {"param.open", "b8 8"},
        {"param.modes", "u8 8"},
        {"param.doubles", "f64 3"},
        {"state.a.pos.x", "f32"},
        {"state.b.mass", "f32"},
        {"state.corner.y", "f32 4"},
        {"state.grid", "f32 4 4"},
        {"state.mode", "u8"},
        {"state.colour", "i32"},
        {"state.alive", "b8"},
        {"state.byte", "u8"},
        {"state.words", "i16 3"},
        {"state.large", "i64"},
        {"state.exact", "f64"},
        {"state.longer", "i64"},
        {"state.longest", "i64"},
        {"state.letter", "i8"},
        {"state.raw", "u8"},
        {"state.left", "i32"},
        {"state.map", "f32 6 6"},
        {"state.bytes", "u8 20"},
        {"state.flags", "b8 5"},
        {"state.moods", "u8 2 3"},
        {"action.cards", "i32 3"},
        {"action.joints", "f32 2"},
        {"action.steering.wheel", "f32"},
        {"action.force", "f32"},
        {"obs", "f32 15"},
        {"obs.image", "u8 4 4 3"},
        {"obs.rays", "f32 7"},
        {"final_obs.image", "u8 4 4 3"},
        {"mask", "u8 15"},
        {"global", "f32 7"},
        {"log.distance", "f32"},
        {"log.last.y", "f32"},
        {"log.steps", "i32"},
    };
    for (const auto& [array, wanted] : forms) {
        const std::string name = array;
        CAPTURE(name);
        CHECK(form(schema, name) == wanted);
    }
    const Field &pedal = *schema.find("action.steering.pedal"),
                &force = *schema.find("action.force"), &cards = *schema.find("action.cards");
    CHECK(pedal.low == 0.25f);
    CHECK(pedal.high == 0.75f);
    CHECK(force.low == -2.0f);
    CHECK(force.high == 2.5f);
    CHECK(cards.choices == 5);
    CHECK(schema.find("param.large")->initial == -5e9);
    CHECK(schema.header().time_limit == 40);
    CHECK(schema.header().most_threads == 32);
    CHECK(schema.header().has_prepare == 1);
    CHECK(schema.header().has_draw == 1);
}

TEST_CASE("an environment with everything runs, and prepare() has filled its tables") {
    const Folder folder;
    Environment env(
        cpu(), settings_of({{"source", folder.write("everything.cu", everything)}, {"count", 40}}));
    CHECK(numbers(env, "state.letter") == std::vector<double>(40, 'n'));
    CHECK(numbers(env, "state.large") == std::vector<double>(40, -5e9));
    CHECK(numbers(env, "state.exact") == std::vector<double>(40, 0.125));
    CHECK(numbers(env, "state.alive") == std::vector<double>(40, 1));
    for (int t = 0; t < 100; ++t) env.step_at_random();
    const std::vector<double> pedal = numbers(env, "action.steering.pedal"),
                              cards = numbers(env, "action.cards");
    CHECK(*std::min_element(pedal.begin(), pedal.end()) >= 0.25);
    CHECK(*std::max_element(pedal.begin(), pedal.end()) <= 0.75);
    CHECK(std::count(cards.begin() + 40, cards.begin() + 80, 3.0) == 0);    // part 1 may never be 3
    CHECK(env.take_totals().episodes >= 80);
    env.check_finite();
}

TEST_CASE("64 fields are as many as one struct may have") {
    const EnvSchema schema = accepted(with_64_fields());
    CHECK(schema.find("state.f0") != nullptr);
    CHECK(schema.find("state.f63") != nullptr);
    CHECK(schema.header().group[0].obs_width == 64);
}

TEST_CASE("an environment may have an empty state, stand in a namespace and be final") {
    const EnvSchema schema = accepted(smallest);
    CHECK(schema.name() == "worlds::Smallest");
    CHECK(schema.header().group[0].obs_width == 308);
    const Folder folder;
    Environment env(cpu(),
                    settings_of({{"source", folder.write("smallest.cu", smallest)}, {"count", 3}}));
    env.step_at_random();
    CHECK(numbers(env, "obs") == std::vector<double>(924, 1));
}
