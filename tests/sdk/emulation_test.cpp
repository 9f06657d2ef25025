#include "tests/env/authors.h"
#include "tests/sdk/emulated.h"
#include "tests/sdk/everything.h"
#include "tests/sdk/team_everything.h"
#include "tests/support/sanitized.h"
#include "tests/support/thorough.h"

// A GPU's code path, emulated, against a CPU's: the same bytes in every array. What a GPU
// does then differs from a CPU by its arithmetic alone. An environment of each kind is here, with many steps in a launch;
// tests/contract holds every one to the same, step by step.
using namespace nacelle;
using namespace nacelle::test;

namespace {

const char* const flock = R"(
#include <nacelle/env.h>
struct Flock {
    static constexpr int agents = nacelle::constant("agents", 3), time_limit = 6;
    static constexpr int width = nacelle::constant("width", 1);
    struct Params { float stride = 0.1f; };
    struct State { float x; };
    struct Agent { float x; };
    struct Action { nacelle::Discrete<3> go; };
    struct Obs { float x[width]; };
    using Team = nacelle::Team<Flock>;
    using Member = nacelle::Member<Flock>;
    static void reset(Team& team, const Params&) {
        team.each([](Member& me, nacelle::Rng& rng) { me.x = rng.uniform(-1.0f, 1.0f); });
        team.once([](State& s) { s.x = 0.0f; });
    }
    static nacelle::Ending step(Team& team, const Params& p) {
        team.each([&](Member& me) { me.x += p.stride * float(me.action.go - 1); });
        const bool far = team.any([&](const Member& m) {
            return nacelle::abs(m.x - team.state().x) > 0.5f;
        });
        const float first = team.sum([&](const Member& m) { return m.x - team[0].x; });
        team.once([&](State& s) { s.x = far ? s.x + 0.01f * first : 0.0f; });
        team.each([&](Member& me) { me.reward = me.x - team.state().x; });
        return nacelle::Ending::running;
    }
    static Obs observe(const Team&, const Member& me, const Params&) {
        Obs obs;
        for (int i = 0; i < width; ++i) obs.x[i] = me.x + 0.5f * float(i);
        return obs;
    }
};
NACELLE_ENV(Flock)
)";

}

TEST_CASE("the code of a GPU, run on threads, leaves the same bytes as the code of a CPU") {
    for (const std::string name : {"cartpole", "mazes", "pendulum"}) {
        for (const uint32_t count : {1u, 31u, 33u, 300u}) {
            CAPTURE(name);
            CAPTURE(count);
            compare_with_emulation(recommended(name, count), count, {});
        }
    }
}

TEST_CASE("so it does for images, masks, arrays, logs and every type of number") {
    const Folder folder;
    const Json params = {{"gravity", {{"uniform", {1, 20}}}}, {"mass", {{"normal", {1, 0.1}}}}};
    compare_with_emulation(
        settings_of({{"source", folder.write("everything.cu", everything)}, {"params", params}}),
        33, {});
    compare_with_emulation(settings_of({{"source", folder.write("masked.cu", masked)}}), 140, {});
}

TEST_CASE("one agent and a team that see images alone leave the same bytes, too") {
    const std::string folder = source_path("tests/algorithms/environments/");
    compare_with_emulation(settings_of({{"source", folder + "picture.cu"}}), 33, {});
    compare_with_emulation(settings_of({{"source", folder + "lookouts.cu"}}), 5,
                           {.rounds = 3, .alone = 1, .together = 7});
}

TEST_CASE("so it does for teams: with turns, of one group and of two, with bins") {
    const std::vector<std::string> teams = {"connect_four", "tag_gridworld", "tag_continuous",
                                            "pursuit_swarm"};
    for (const std::string& name : few_if_sanitized(teams, {0, 1})) {
        CAPTURE(name);
        // Connect Four has no time limit and is over after 7 to 42 steps.
        const uint32_t together = name == "connect_four" ? 16 : 3;
        compare_with_emulation(recommended(name, 3), 3,
                               {.rounds = 3, .alone = 1, .together = together});
    }
}

TEST_CASE("so it does for teams of every size, with groups, turns, bins and varied parameters" *
          test::thorough()) {
    const Folder folder;
    const std::filesystem::path source = folder.write("chase.cu", team_everything);
    const Json params = {{"speed", {{"uniform", {0.05, 0.2}}}}, {"reach", 0.15}};
    struct Size {
        int hunters, preys, lanes;
    };
    // One warp for 105, and four for 33: several agents to a thread, and threads without any.
    const std::vector<Size> sizes = {{1, 1, 0}, {5, 32, 0}, {3, 33, 128}, {33, 105, 32}};
    for (const Size& size : few_if_sanitized(sizes, {0, 3})) {
        const int hunters = size.hunters, preys = size.preys, lanes = size.lanes;
        CAPTURE(hunters);
        CAPTURE(preys);
        CAPTURE(lanes);
        compare_with_emulation(
            settings_of({{"source", source},
                         {"params", params},
                         {"constants", {{"hunters", hunters}, {"preys", preys}}}}),
            3, {.rounds = 4, .alone = 2, .together = 5, .lanes = lanes});
    }
}

TEST_CASE("so it does where questions look at the team's state and at other members") {
    // Threads without an agent do not look, and must not wait elsewhere than the others.
    const Folder folder;
    const std::filesystem::path source = folder.write("flock.cu", flock);
    for (const int agents : {3, 70}) {
        CAPTURE(agents);
        compare_with_emulation(
            settings_of({{"source", source}, {"constants", {{"agents", agents}}}}), 3,
            {.rounds = 3, .alone = 1, .together = 7});
    }
}

TEST_CASE("so it does whether rows leave their stage by one, by two or by four numbers, with odd "
          "ones at the ends") {
    const Folder folder;
    const std::filesystem::path source = folder.write("flock.cu", flock);
    struct Size {
        int agents, width;
    };
    // By one, by two, and by four with ends: one and more of them.
    const std::vector<Size> sizes = {{33, 3}, {105, 6}, {33, 5}, {34, 7}};
    for (const Size& size : few_if_sanitized(sizes, {2})) {
        const int agents = size.agents, width = size.width;
        CAPTURE(agents);
        compare_with_emulation(settings_of({{"source", source},
                                            {"constants", {{"agents", agents}, {"width", width}}}}),
                               3, {.rounds = 3, .alone = 1, .together = 7, .lanes = 32});
    }
}

TEST_CASE("several steps in one launch are those of single steps on a CPU, too") {
    const Folder folder;
    const std::filesystem::path source = folder.write("chase.cu", team_everything);
    const std::vector<std::pair<int, int>> sizes = {{2, 31}, {40, 500}};
    for (const auto& size : few_if_sanitized(sizes, {0})) {
        const int hunters = size.first, preys = size.second;
        CAPTURE(preys);
        const EnvSettings settings =
            settings_of({{"source", source},
                         {"count", 7},
                         {"constants", {{"hunters", hunters}, {"preys", preys}}}});
        Environment single(cpu(), settings), many(cpu(), settings);
        Program& program =
            many.programs().add({.instantiation = both_programs, .headers = {}, .defines = {}});
        const Kernel kernel = program.kernel("nacelle_random_rollout");
        for (int round = 0; round < 4; ++round) {
            const Records expected = single_steps(single, 13),
                          found = record_steps(many, kernel, many.shape_of(7), 13);
            CHECK(record_difference(single, expected, found) == "");
            REQUIRE(first_difference(single, many) == "");
        }
    }
}
