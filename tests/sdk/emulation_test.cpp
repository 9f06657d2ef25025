#include "tests/env/authors.h"
#include "tests/sdk/emulated.h"
#include "tests/sdk/everything.h"
#include "tests/sdk/team_everything.h"

// A GPU's code path, emulated, against a CPU's: the same bytes in every array. What a GPU
// does then differs from a CPU by its arithmetic alone.
using namespace nacelle;
using namespace nacelle::test;

TEST_CASE("the code of a GPU, run on threads, leaves the same bytes as the code of a CPU") {
    for (const std::string& name : all_environments()) {
        const Environment one(cpu(1), recommended(name, 1));
        if (one.schema().header().is_team) continue;
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

TEST_CASE("so it does for the teams that come with the engine") {
    for (const std::string& name : all_environments()) {
        const Environment one(cpu(1), recommended(name, 1));
        if (!one.schema().header().is_team) continue;
        CAPTURE(name);
        // Connect Four has no time limit and is over after 7 to 42 steps.
        const bool limited = one.schema().header().time_limit > 0;
        compare_with_emulation(recommended(name, 3), 3,
                               {.rounds = 3, .alone = 1, .together = limited ? 3u : 16u});
    }
}

TEST_CASE("so it does for teams of every size, with groups, turns, bins and varied parameters") {
    const Folder folder;
    const std::filesystem::path source = folder.write("chase.cu", team_everything);
    const Json params = {{"speed", {{"uniform", {0.05, 0.2}}}}, {"reach", 0.15}};
    struct Size {
        int hunters, preys, lanes;
    };
    // One warp for 105, and four for 33: several agents to a thread, and threads without any.
    for (const auto& [hunters, preys, lanes] :
         {Size{1, 1, 0}, Size{1, 2, 0}, Size{2, 31, 0}, Size{5, 32, 0}, Size{3, 33, 128},
          Size{33, 105, 32}, Size{33, 105, 0}}) {
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

TEST_CASE("several steps in one launch are those of single steps on a CPU, too") {
    const Folder folder;
    const std::filesystem::path source = folder.write("chase.cu", team_everything);
    for (const auto& [hunters, preys] : {std::pair(1, 1), std::pair(3, 37), std::pair(40, 500)}) {
        CAPTURE(preys);
        const EnvSettings settings =
            settings_of({{"source", source},
                         {"count", 7},
                         {"constants", {{"hunters", hunters}, {"preys", preys}}}});
        Environment single(cpu(), settings), many(cpu(), settings);
        Program& program =
            many.program({.instantiation = both_programs, .headers = {}, .defines = {}});
        const Kernel kernel = program.kernel("nacelle_random_rollout");
        for (int round = 0; round < 4; ++round) {
            const Records expected = single_steps(single, 13),
                          found = record_steps(many, kernel, many.shape_of(7), 13);
            CHECK(record_difference(single, expected, found) == "");
            REQUIRE(first_difference(single, many) == "");
        }
    }
}
