#include "tests/algorithms/iteration.h"
#include "tests/support/on_gpu.h"
#include "tests/support/random.h"
#include "tests/support/skip.h"
#include "tests/support/thorough.h"

// All steps of a rollout of a network that remembers in one launch, against a launch for each step and layer.

using namespace nacelle;
using namespace nacelle::test;

namespace {

// What two rollouts left, of which the second one goes on from what the first one remembered.
std::map<std::string, std::vector<double>> rolled(const std::shared_ptr<RunsOn>& on,
                                                  const char* rollout, const Json& policy,
                                                  uint32_t envs, uint64_t seed) {
    Json config = {{"horizon", 6},
                   {"sequence", 3},
                   {"minibatches", 1},
                   {"epochs", 1},
                   {"learning_rate", 0},
                   {"rollout", rollout},
                   {"policies", {{"default", policy}}}};
    if (envs < 100) config["emulate"] = true;
    Lesson lesson(on, env_of("choices", envs), "ppo", config, seed);
    lesson.iterate(2);
    std::map<std::string, std::vector<double>> all;
    for (NamedArray& one : lesson.env().arrays().all()) {
        const std::string name = one.name();
        const bool passing = name.find(".stream.") != std::string::npos ||    // through layers
                             name.find("marks") != std::string::npos;
        if (!passing) all[name] = one.numbers();
    }
    return all;
}
void hold_to_steps(const std::shared_ptr<RunsOn>& on, const Json& layers, const char* trunk,
                   uint32_t envs) {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    CAPTURE(trunk);
    // Of floats, so that a choice never hangs on how their products are summed.
    const Json policy = {{"precision", "f32"}, {"trunk", trunk}, {"hidden", layers}};
    const auto together = rolled(on, "auto", policy, envs, seed),
               apart = rolled(on, "stepwise", policy, envs, seed);
    REQUIRE(together.size() == apart.size());
    for (const auto& one : apart) {
        CAPTURE(one.first);
        CHECK(relative_error(together.at(one.first), one.second) < 1e-4);
    }
}
const Json mingru_21 = {{"mingru", 21}}, gru_9 = {{"gru", 9}};

}

TEST_CASE("a rollout of a network that remembers in one launch leaves what one in steps does" *
          test::by_name()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the plain build does this; instrumented, emulated tensor cores take minutes");
#endif
    hold_to_steps(quick_cpu(), {mingru_21, 5, gru_9}, "separate", 37);
}
TEST_CASE("such a rollout in one launch leaves on a GPU what one in steps does" * test::on_gpu()) {
    std::shared_ptr<RunsOn> on;
    const std::string missing = complaint([&] { on = open("cuda"); });
    if (!missing.empty()) NACELLE_SKIP(missing);
    hold_to_steps(on, {mingru_21, 5, gru_9}, "separate", 300);
    hold_to_steps(on, {{{"mingru", 130}}, {{"mingru", 64}}}, "shared", 4001);
}
