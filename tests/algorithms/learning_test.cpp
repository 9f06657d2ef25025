#include "engine/run/configuration.h"
#include "engine/run/run.h"
#include "tests/algorithms/lesson.h"
#include "tests/support/skip.h"
#include "tests/support/thorough.h"

// The settings that lie beside an environment solve it, on a CPU, from any seed.

using namespace nacelle;
using namespace nacelle::test;

namespace {

// The lower end of the 95 % interval of the trained policy's mean return over 1,000 episodes.
double surely_returned(const std::string& env, uint64_t seed) {
    const CompiledBy with_vectors("quick_compiler");
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
// The same of an environment of this folder, with these layers.
double surely_returned_with(const Json& hidden, const char* env, uint64_t steps) {
    const CompiledBy with_vectors("quick_compiler");
    Plugins plugins = plugins_of({learners});
    const Json configuration = {
        {"seed", 11},
        {"env", {{"source", (lesson_folder / (std::string(env) + ".cu")).string()}, {"count", 64}}},
        {"learner",
         {{"name", "ppo"},
          {"horizon", 130},
          {"learning_rate", {{"linear", {0.003, 0.001}}}},
          {"gamma", 0.999},
          {"policies", {{"default", {{"hidden", hidden}}}}}}},
        {"run", {{"total_steps", steps}, {"sinks", Json::array()}}}};
    TrainingRun run(load_environment(cpu(), plugins, configuration, "test"), plugins, configuration,
                    "test");
    while (run.iterate()) {}
    const Evaluation found = run.evaluate(200);
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
TEST_CASE("networks that remember solve what others cannot" * test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the plain build learns; instrumented it takes minutes");
#endif
    const Json mingru = {{"mingru", 32}}, gru = {{"gru", 32}};
    CHECK(surely_returned_with(Json::array({gru}), "t_maze", 300000) >= 0.95);
    CHECK(surely_returned_with(Json::array({mingru}), "t_maze", 300000) >= 0.95);
    CHECK(surely_returned_with(Json::array({32}), "t_maze", 300000) < 0.6);
    CHECK(surely_returned_with(Json::array({32, mingru}), "blind_cartpole", 300000) >= 300);
    CHECK(surely_returned_with(Json::array({32, 32}), "blind_cartpole", 300000) < 150);
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
