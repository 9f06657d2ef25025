#include "tests/contract/contract.h"
#include "tests/env/workbench.h"
#include "tests/support/on_gpu.h"
#include "tests/support/sanitized.h"
#include "tests/support/skip.h"
#include "tests/support/thorough.h"

#include <doctest/doctest.h>

// Teams of every size that is a turning point: one agent, one more than a warp, several agents to a
// thread, more strips of 32 than a strip has, members that a sort moves. A GPU has more of them: more agents than a
// block has threads, teams of which several share a block, a cluster.
using namespace nacelle;
using namespace nacelle::test;

namespace {

struct TeamSize {
    const char* environment;
    int agents;
    std::vector<std::string> constants;    // "taggers=4", what makes it so many
};

// Which constants give which number. Each environment has small and big sizes; the one that it has
// by default is held to the contract with every environment.
std::vector<TeamSize> sizes(bool gpu) {
    std::vector<TeamSize> sizes = {
        {"tag_gridworld", 1, {"taggers=0"}},
        {"tag_gridworld", 33, {"taggers=32", "observe_all=0"}},
        {"tag_continuous", 1025, {"taggers=25", "runners=1000"}},
        {"pursuit_swarm", 4096, {"predators=512", "preys=3584"}},
    };
    // On a CPU these go the ways of the others; a GPU launches each in its own.
    if (gpu)
        sizes.insert(sizes.end(), {{"tag_continuous", 2, {"taggers=1", "runners=1"}},
                                   {"tag_continuous", 105, {"taggers=5", "runners=100"}},
                                   {"tag_gridworld", 1000, {"taggers=999", "observe_all=0"}},
                                   {"pursuit_swarm", 16384, {"predators=2048", "preys=14336"}}});
    return sizes;
}

// What can depend on the number of agents: memory, the order of agents, the cut into threads.
const std::vector<std::string> asked = {"host compiler", "indices",     "reset writes",
                                        "checked build", "agent order", "GPU code",
                                        "CPU = GPU"};

}

TEST_CASE("teams of 1 to 4,096 agents, to 16,384 on a GPU, keep the contract" * test::thorough() *
          test::on_gpu()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the plain build has all sizes; with a sanitizer they would take an hour");
#endif
    const bool gpu = complaint([] { open("cuda"); }).empty();
    if (!gpu) leave_out("no GPU: without the sizes that go ways of their own on it alone");
    for (const TeamSize& size : sizes(gpu)) {
        std::vector<std::string> assignments;
        for (const std::string& constant : size.constants)
            assignments.push_back("env.constants." + constant);
        const Report report =
            check(env_folder / (std::string(size.environment) + ".cu"), assignments, 60, asked);
        CAPTURE(size.environment);
        CAPTURE(size.agents);
        CHECK_MESSAGE(report.passes, report.refusals());
        const Finding* const built = report.find("host compiler");
        REQUIRE(built);
        const std::string count = ": " + std::to_string(size.agents) + " agents";
        CHECK_MESSAGE(contains(built->what, count), built->what);
        CHECK(report.find("GPU code") != nullptr);
    }
}
