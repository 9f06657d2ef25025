#include "engine/run/configuration.h"
#include "engine/run/run.h"
#include "tests/algorithms/lesson.h"
#include "tests/support/skip.h"

// The settings that lie beside an environment solve it, on a CPU, from any seed.

using namespace nacelle;
using namespace nacelle::test;

namespace {

// The lower end of the 95 % interval of the trained policy's mean return over 1,000 episodes.
double surely_returned(const std::string& env, uint64_t seed) {
    Plugins plugins = plugins_of({learners});
    Json configuration = load_json(env_folder / (env + ".json"));
    configuration["seed"] = seed;
    configuration["run"]["sinks"] = Json::array();
    configuration["env"]["source"] = (env_folder / (env + ".cu")).string();
    TrainingRun run(load_environment(cpu(), plugins, configuration, "test"), plugins, configuration,
                    "test");
    while (run.iterate()) {}
    const Evaluation found = run.evaluate(1000);
    return found.mean_return - found.return_interval;
}

}

TEST_CASE("cartpole's settings balance the pole from three seeds") {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the plain build learns; instrumented it takes minutes");
#endif
    for (const uint64_t seed : {11, 12, 13}) {
        CAPTURE(seed);
        CHECK(surely_returned("cartpole", seed) >= 475);
    }
}
TEST_CASE("pendulum's settings swing it up from three seeds") {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the plain build learns; instrumented it takes minutes");
#endif
    for (const uint64_t seed : {11, 12, 13}) {
        CAPTURE(seed);
        CHECK(surely_returned("pendulum", seed) >= -200);
    }
}
