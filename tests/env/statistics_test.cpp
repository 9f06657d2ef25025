#include "tests/env/authors.h"
#include "tests/env/workbench.h"

#include <cmath>
#include <doctest/doctest.h>

// What the engine counts, counted again from what each step led to.
using namespace nacelle;
using namespace nacelle::test;

namespace {

// Sums over ended episodes, as a host sees them.
struct Recount {
    explicit Recount(size_t count)
        : running(count), steps(count), shown_return(count), shown_length(count) {}

    void see(Environment& env) {
        const std::vector<double> reward = numbers(env, "reward"),
                                  terminated = numbers(env, "terminated"),
                                  truncated = numbers(env, "truncated");
        for (size_t i = 0; i < running.size(); ++i) {
            both += terminated[i] != 0 && truncated[i] != 0;
            running[i] += float(reward[i]);
            ++steps[i];
            shown_return[i] =
                running[i];    // an ended episode's stay to be seen until the next step
            shown_length[i] = steps[i];
            if (terminated[i] == 0 && truncated[i] == 0) continue;
            ++episodes;
            returns += double(running[i]);
            squares += double(running[i]) * double(running[i]);
            lengths += steps[i];
            running[i] = 0;
            steps[i] = 0;
        }
    }

    std::vector<float> running;
    std::vector<int> steps;
    std::vector<double> shown_return, shown_length;
    double episodes = 0, returns = 0, squares = 0, lengths = 0;
    int both = 0;
};

Environment signals_env(const Folder& folder, uint32_t count) {
    return Environment(
        cpu(), settings_of({{"source", folder.write("signals.cu", signals)}, {"count", count}}));
}

}

TEST_CASE("returns, lengths and totals are those of a recount from every step") {
    for (const char* const name : {"cartpole", "mountain_car_continuous", "mazes"}) {
        CAPTURE(std::string(name));
        Environment env(cpu(), recommended(name, 300));
        Recount recount(300);
        const std::vector<double> start(300, double(env.schema().header().time_limit) - 40);
        write_numbers(env, "episode.length", start);    // so that the limit ends episodes, too
        // Their first lengths count from step 0: what the engine believes must be ours.
        for (int& steps : recount.steps) steps = int(start[0]);
        for (int t = 0; t < 120; ++t) {
            env.step_at_random();
            recount.see(env);
        }
        CHECK(numbers(env, "episode.return") == recount.shown_return);
        CHECK(numbers(env, "episode.length") == recount.shown_length);
        const Totals totals = env.take_totals();
        CHECK(recount.episodes >= 300);
        CHECK(totals.episodes == recount.episodes);
        CHECK(totals.mean_return ==
              doctest::Approx(recount.returns / recount.episodes).epsilon(1e-6));
        CHECK(totals.mean_length ==
              doctest::Approx(recount.lengths / recount.episodes).epsilon(1e-9));
        const double mean = recount.returns / recount.episodes,
                     variance = recount.squares / recount.episodes - mean * mean;
        CHECK(totals.return_deviation ==
              doctest::Approx(std::sqrt(std::max(0.0, variance))).epsilon(1e-3));
        CHECK(recount.both == 0);
        CHECK(env.take_totals().episodes == 0);
    }
}

TEST_CASE("an episode that ends both ways is terminated, and the limit truncates") {
    const Folder folder;
    Environment env = signals_env(folder, 4);
    fill_numbers(env, "action.reward", 2);
    write_numbers(env, "action.flags", {0, 1, 2, 3});
    env.step();
    CHECK(numbers(env, "terminated") == std::vector<double>{0, 1, 0, 1});
    CHECK(numbers(env, "truncated") == std::vector<double>{0, 0, 1, 0});
    write_numbers(env, "action.flags", {0, 0, 0, 0});
    for (int t = 0; t < 4; ++t) env.step();
    CHECK(numbers(env, "truncated") == std::vector<double>(4, 0));
    CHECK(numbers(env, "episode.length") == std::vector<double>{5, 4, 4, 4});
    env.step();
    CHECK(numbers(env, "truncated") == std::vector<double>{1, 0, 0, 0});
    write_numbers(env, "action.flags", {0, 1, 0, 0});
    env.step();    // the others meet the limit, one by its own end
    CHECK(numbers(env, "terminated") == std::vector<double>{0, 1, 0, 0});
    CHECK(numbers(env, "truncated") == std::vector<double>{0, 0, 1, 1});
    CHECK(numbers(env, "episode.length") == std::vector<double>{1, 6, 6, 6});
    CHECK(numbers(env, "episode.return") == std::vector<double>{2, 12, 12, 12});
}

TEST_CASE("the final observation is that of the last state, and the observation that of the next "
          "episode") {
    const Folder folder;
    Environment env = signals_env(folder, 3);
    const std::vector<double> before = numbers(env, "obs");
    write_numbers(env, "action.flags", {1, 0, 2});
    env.step();
    const std::vector<double> last = numbers(env, "final_obs"), now = numbers(env, "obs"),
                              value = numbers(env, "state.value");
    for (const size_t i : {0u, 2u}) {
        CHECK(last[2 * i] == float(before[2 * i]) + 1.0f);
        CHECK(last[2 * i + 1] == 1);
        CHECK(now[2 * i] == value[i]);
        CHECK(now[2 * i] < 1);
        CHECK(now[2 * i + 1] == 0);
    }
    CHECK(now[2] == float(before[2]) + 1.0f);
    CHECK(now[3] == 1);
}

TEST_CASE("at the time limit the final observation is what a twin without a limit sees") {
    Environment env(cpu(), recommended("pendulum", 50)), twin(cpu(), recommended("pendulum", 50));
    for (Environment* one : {&env, &twin}) fill_numbers(*one, "episode.length", 195);
    for (int t = 0; t < 4; ++t) {
        env.step_at_random();
        twin.step_at_random();
    }
    fill_numbers(twin, "episode.length", 0);
    env.step_at_random();
    twin.step_at_random();
    CHECK(numbers(env, "truncated") == std::vector<double>(50, 1));
    CHECK(bytes_of(env.arrays()["final_obs"]) == bytes_of(twin.arrays()["obs"]));
    CHECK(bytes_of(env.arrays()["obs"]) != bytes_of(twin.arrays()["obs"]));
}

TEST_CASE("report is asked at an episode's end, and its means are taken over the episodes") {
    const Folder folder;
    Environment env = signals_env(folder, 3);
    const std::vector<double> first = numbers(env, "state.value");
    write_numbers(env, "action.flags", {0, 0, 1});
    env.step();
    CHECK(numbers(env, "log.steps") == std::vector<double>{0, 0, 1});
    write_numbers(env, "action.flags", {2, 0, 0});
    env.step();
    CHECK(numbers(env, "log.steps") == std::vector<double>{2, 0, 1});
    const std::vector<double> value = numbers(env, "log.value");
    CHECK(value[0] == float(first[0]) + 1.0f + 1.0f);
    const Totals totals = env.take_totals();
    CHECK(totals.episodes == 2);
    REQUIRE(totals.log.size() == 2);
    CHECK(totals.log[0].first == "value");
    CHECK(totals.log[0].second == doctest::Approx((value[0] + value[2]) / 2));
    CHECK(totals.log[1].first == "steps");
    CHECK(totals.log[1].second == 1.5);
}

TEST_CASE("overview follows every step and every reset") {
    const Folder folder;
    Environment env = signals_env(folder, 3);
    const auto check = [&] {
        const std::vector<double> global = numbers(env, "global"),
                                  value = numbers(env, "state.value");
        for (size_t i = 0; i < 3; ++i) CHECK(global[2 * i] == 2 * value[i]);
    };
    check();
    for (int t = 0; t < 10; ++t) {
        env.step_at_random();
        check();
    }
    env.set_param("scale", 3);
    env.reset();
    check();
    CHECK(numbers(env, "global")[1] == 3);
}
