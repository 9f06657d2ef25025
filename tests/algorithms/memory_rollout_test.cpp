#include "tests/algorithms/left.h"
#include "tests/support/random.h"
#include "tests/support/sanitized.h"
#include "tests/support/skip.h"

// All steps of a rollout of a network that remembers in one launch, against a launch for each step and layer.

using namespace nacelle;
using namespace nacelle::test;

namespace {

// After two rollouts, so that the second one goes on from what the first one remembered.
std::map<std::string, std::vector<std::byte>> rolled(const char* rollout, const Json& policy,
                                                     uint64_t seed) {
    const Json config = {{"horizon", 6},
                         {"sequence", 3},
                         {"minibatches", 1},
                         {"epochs", 1},
                         {"emulate", true},
                         {"rollout", rollout},
                         {"policies", {{"default", policy}}}};
    Lesson lesson(quick_cpu(), env_of("choices", 37), "ppo", config, seed);
    return left_by(lesson, 2);
}

}

TEST_CASE("a rollout of a network that remembers in one launch leaves the bits of one in steps") {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the plain build does this; instrumented, emulated tensor cores take minutes");
#endif
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    // A gru's update of all steps in one launch sums in an order of its own: here it is the same in both.
    const Json layers = {Json{{"mingru", 21}}, 5, Json{{"mingru", 17}}};
    for (const char* const trunk : {"shared", "separate"}) {
        const Json policy = {{"precision", "bf16"}, {"trunk", trunk}, {"hidden", layers}};
        const auto together = rolled("auto", policy, seed),
                   apart = rolled("stepwise", policy, seed);
        for (const auto& [name, bytes] : apart) {
            if (name.find(".stream.") != std::string::npos) continue;    // what goes through layers
            CAPTURE(name);
            CHECK(together.at(name) == bytes);
        }
    }
}
