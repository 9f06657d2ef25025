#include "engine/run/training_benchmark.h"
#include "tests/env/workbench.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

constexpr double envs = 32, horizon = 8;

Json small_ppo(const Json& over = Json::object()) {
    Json all = {{"env", {{"source", source_path("env_sources/cartpole.cu")}, {"count", int(envs)}}},
                {"learner",
                 {{"name", "ppo"}, {"horizon", int(horizon)}, {"epochs", 3}, {"minibatches", 2}}},
                {"policies", {{"default", {{"hidden", {16}}, {"trunk", "separate"}}}}}};
    merge_json(all, over);
    return all;
}

TrainingRow measured(const Json& configuration,
                     const TrainingMeasure& measure = {.repetitions = 3, .seconds = 0}) {
    Plugins plugins({build_path("plugins"), build_path("algorithms")}, cpu()->cache);
    return measure_training(cpu(), plugins, configuration, "test", measure);
}

void check_spread(const Spread& spread) {
    CHECK(spread.slowest > 0);
    CHECK(spread.slowest <= spread.median);
    CHECK(spread.median <= spread.fastest);
}

}

TEST_CASE("a spread is the median between the slowest and the fastest") {
    const Spread spread = spread_of({3, 1, 9});
    CHECK(spread.median == 3);
    CHECK(spread.slowest == 1);
    CHECK(spread.fastest == 9);
}

TEST_CASE("a row of training has its configuration and rates of the whole and of its parts") {
    const TrainingRow row = measured(small_ppo());
    CHECK(row.environment == "CartPole");
    CHECK(row.learner == "ppo");
    CHECK(row.envs == envs);
    CHECK(row.agents == 1);
    CHECK(row.steps == horizon);
    CHECK(row.iterations == 1);
    CHECK(row.repetitions == 3);
    CHECK(row.settings["env"]["source"] == "cartpole");
    CHECK(row.settings["learner"]["epochs"] == 3);
    CHECK(row.settings["learner"]["normalise_observations"] == true);
    CHECK(row.settings["policies"]["default"]["precision"] == "f32");
    check_spread(row.whole);
    REQUIRE(row.rollout);
    REQUIRE(row.update);
    check_spread(*row.rollout);
    check_spread(*row.update);
    // Seconds of a step: the parts lie within the whole, and are much of it where nothing disturbs a repetition.
    CHECK(1 / row.rollout->fastest + 1 / row.update->fastest <= 1.001 / row.whole.fastest);
    CHECK(1 / row.rollout->slowest + 1 / row.update->slowest > 0.1 / row.whole.fastest);
    CHECK(row.seconds * row.whole.fastest >= envs * horizon * 3 * 0.999);
    CHECK(row.seconds * row.whole.slowest <= envs * horizon * 3 * 1.001);
}

TEST_CASE("an update's operations are six for each weight and sample") {
    const TrainingRow row = measured(small_ppo(), {.repetitions = 1, .seconds = 0});
    REQUIRE(row.updates);
    REQUIRE(row.teraflops);
    CHECK(*row.updates == 3 * 2);
    // Two networks, of 4-16-2 and 4-16-1, with their biases; three epochs.
    const double weights = (4 + 1) * 16 + (16 + 1) * 2 + (4 + 1) * 16 + (16 + 1) * 1;
    const double operations = 6 * weights * envs * horizon * 3,
                 seconds = envs * horizon / row.update->median;
    CHECK(*row.teraflops == doctest::Approx(operations / seconds * 1e-12).epsilon(1e-6));
}

TEST_CASE("a critic's operations count, and of a game against the past those of who learns") {
    const auto of = [](const char* environment, const Json& policy) {
        const TrainingRow row = measured(
            small_ppo(
                {{"env", {{"source", source_path(std::string("env_sources/") + environment)}}},
                 {"policies", {{"default", policy}}}}),
            {.repetitions = 1, .seconds = 0});
        REQUIRE(row.teraflops);
        // Of each weight, a step of an environment.
        return *row.teraflops * 1e12 / row.update->median / (6 * 3);
    };
    const double actor = (5 + 1) * 16 + (16 + 1) * 4, critic = (10 + 1) * 8 + (8 + 1) * 1;
    CHECK(of("levers.cu", {{"critic", {{"sees", {"global"}}, {"hidden", {8}}}}}) ==
          doctest::Approx(2 * (actor + critic)).epsilon(1e-6));
    const double both = (85 + 1) * 16 + (16 + 1) * 7 + (85 + 1) * 16 + (16 + 1) * 1;
    CHECK(of("connect_four.cu", {{"opponents", {{"pool", 2}}}}) ==
          doctest::Approx(both).epsilon(1e-6));
}

TEST_CASE("an update that stops early counts as what it was") {
    const TrainingRow row = measured(small_ppo({{"learner", {{"target_kl", 1e-12}}}}));
    REQUIRE(row.updates);
    CHECK(*row.updates < 3 * 2);
}

TEST_CASE("a repetition has as many iterations as its time asks for") {
    CHECK(measured(small_ppo(), {.repetitions = 1, .seconds = 0.2}).iterations > 1);
}

TEST_CASE("a learner that does not time its parts has a rate of the whole alone") {
    Json configuration = small_ppo();
    configuration.erase("policies");
    configuration["learner"] = {{"name", "random_search"}, {"steps", 10}};
    const TrainingRow row = measured(configuration);
    CHECK(row.learner == "random_search");
    CHECK(row.steps == 10);
    check_spread(row.whole);
    CHECK_FALSE(row.rollout);
    CHECK_FALSE(row.update);
    CHECK_FALSE(row.updates);
    CHECK_FALSE(row.teraflops);
}

TEST_CASE("what cannot be trained with is told as by a run, and the next row is measured") {
    const auto refusal = [](const Json& over) {
        return complaint([&] { measured(small_ppo(over)); });
    };
    CHECK(refusal({{"learner", {{"horzion", 3}}}}).find("horzion: there is no such setting") !=
          std::string::npos);
    CHECK(
        refusal({{"policies", {{"default", {{"precision", "bf16"}}}}}}).find("bf16 needs a GPU") !=
        std::string::npos);
    CHECK(refusal({{"env", {{"conut", 3}}}}).find("env.conut") != std::string::npos);
    CHECK(refusal({{"run", {{"total_stesp", 3}}}}).find("total_stesp") != std::string::npos);
    check_spread(measured(small_ppo()).whole);
}

TEST_CASE("no rate is told of losses that are not finite") {
    // Eight layers, each a thousand times its input.
    const Json exploding = {{"hidden", std::vector<int>(8, 8)},
                            {"activation", "relu"},
                            {"gains", {{"hidden", 1000}, {"choice", 1000}, {"value", 1000}}}};
    const std::string said = complaint([&] {
        measured(small_ppo({{"policies", {{"default", exploding}}}}));
    });
    CHECK(said.find("is not a finite number") != std::string::npos);
}
