#include "tests/environments/reference_table.h"
#include "tests/support/on_gpu.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>

// Our environments against what others' code says of them: see tests/references/README.md.
using namespace nacelle;
using namespace nacelle::test;

namespace {

// Relative to max(1, |reference|). Float32 against float64: errors grow along a trajectory as the
// system makes them grow, and Acrobot is chaotic.
struct GymnasiumTolerance {
    const char* name;
    double step, random, skilled;
};
constexpr GymnasiumTolerance gymnasium_tolerances[] = {
    {"cartpole", 2e-6, 2e-5, 2e-5},
    {"mountain_car", 2e-6, 2e-5, 2e-5},
    {"mountain_car_continuous", 2e-6, 2e-5, 2e-5},
    {"pendulum", 2e-6, 2e-4, 2e-4},
    {"acrobot", 5e-5, 5e-5, 2e-2},
};

bool is_state(const std::string& name) { return name.starts_with("state."); }

void check_steps(const std::shared_ptr<RunsOn>& on, const GymnasiumTolerance& tolerance) {
    const Json steps = table_of(tolerance.name)["steps"];
    const Json &before = steps["before"], &after = steps["after"];
    const size_t count = after["reward"].size(), observed = after["obs"].size();
    Environment env(on, recommended(tolerance.name, uint32_t(count)));
    fill_numbers(env, "episode.length", 0);    // the tables know no time limit
    for (const auto& [name, column] : before.items())
        write_numbers(env, name, column.get<std::vector<double>>());
    env.step();

    Worst worst;
    const auto terminated = after["terminated"].get<std::vector<double>>();
    CHECK(numbers(env, "terminated") == terminated);
    CHECK(numbers(env, "truncated") == std::vector<double>(count, 0));
    const std::vector<double> reward = numbers(env, "reward"), obs = numbers(env, "obs"),
                              last = numbers(env, "final_obs");
    const size_t width = obs.size() / count;
    for (size_t i = 0; i < count; ++i) worst.see(reward[i], after["reward"][i], "reward", i);
    for (const auto& [name, column] : after.items()) {
        if (!is_state(name)) continue;
        const std::vector<double> found = numbers(env, name);
        for (size_t i = 0; i < count; ++i)
            if (terminated[i] == 0)
                worst.see(found[i], column[i], name, i);    // else it is a new episode's
    }
    for (size_t i = 0; i < observed; ++i)
        for (size_t k = 0; k < width; ++k)
            worst.see((terminated[i] == 0 ? obs : last)[i * width + k], after["obs"][i][k], "obs",
                      i);
    CAPTURE(worst.where);
    CHECK(worst.error <= tolerance.step);
}

// All trajectories at once, one in each environment.
void check_trajectories(const std::shared_ptr<RunsOn>& on, const GymnasiumTolerance& tolerance) {
    const Json trajectories = table_of(tolerance.name)["trajectories"];
    const size_t count = trajectories.size();
    Environment env(on, recommended(tolerance.name, uint32_t(count)));
    fill_numbers(env, "episode.length", 0);
    size_t longest = 0;
    for (const Json& one : trajectories) longest = std::max(longest, one["after"]["reward"].size());
    const auto column = [&](const char* part, const std::string& name, size_t t) {
        std::vector<double> values;
        for (const Json& one : trajectories) {
            const Json& list = one[part][name];
            values.push_back(list[std::min(t, list.size() - 1)]);
        }
        return values;
    };
    for (const auto& [name, list] : trajectories[0]["start"].items())
        write_numbers(env, name, column("start", name, 0));

    std::vector<Worst> worst(count);
    for (size_t t = 0; t < longest; ++t) {
        for (const auto& [name, list] : trajectories[0]["actions"].items())
            write_numbers(env, name, column("actions", name, t));
        env.step();
        const std::vector<double> terminated = numbers(env, "terminated");
        for (const auto& [name, list] : trajectories[0]["after"].items()) {
            const std::vector<double> found = numbers(env, name),
                                      reference = column("after", name, t);
            for (size_t i = 0; i < count; ++i)
                if (t < trajectories[i]["after"]["reward"].size() &&
                    !(is_state(name) && terminated[i] != 0))
                    worst[i].see(found[i], reference[i], name, t);
        }
    }
    for (size_t i = 0; i < count; ++i) {
        CAPTURE(i);
        CAPTURE(worst[i].where);
        CHECK(worst[i].error <= (i + 1 < count ? tolerance.random : tolerance.skilled));
    }
}

// The first environment on one, the others on another.
void check_gymnasium(const std::shared_ptr<RunsOn>& first, const std::shared_ptr<RunsOn>& others) {
    for (const GymnasiumTolerance& tolerance : gymnasium_tolerances) {
        const std::string name = tolerance.name;
        const auto& on = &tolerance == gymnasium_tolerances ? first : others;
        CAPTURE(name);
        check_steps(on, tolerance);
        check_trajectories(on, tolerance);
    }
}

}

TEST_CASE("on a CPU, steps and trajectories are those of Gymnasium") {
    check_gymnasium(cpu_of_users(), cpu());
}

TEST_CASE("on a GPU, steps and trajectories are those of Gymnasium" * test::on_gpu()) {
    const auto on = open("auto");
    if (!on->cuda()) NACELLE_SKIP(on->why);
    check_gymnasium(on, on);
}
