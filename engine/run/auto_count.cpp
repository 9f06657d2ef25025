#include "engine/run/auto_count.h"

#include "engine/base/error.h"
#include "engine/base/number_text.h"
#include "engine/base/seconds_since.h"
#include "engine/env/settings.h"
#include "engine/run/settings.h"

#include <algorithm>

namespace nacelle {
namespace {

// Where trials begin on a GPU, and on a CPU where so few as its first ones cannot be.
constexpr uint32_t usual_first = 512;
// Short, since counts differ by a factor of two.
constexpr TrainingMeasure brief{.repetitions = 3, .seconds = 0.02};

std::string percent(double share) { return rounded(100 * share, 3) + " %"; }

}

bool is_auto_count(const Json& configuration) {
    const Json::json_pointer place("/env/count");
    return configuration.contains(place) && configuration.at(place) == "auto";
}

ChosenCount choose_count(const std::shared_ptr<RunsOn>& on, Plugins& plugins,
                         const Json& configuration, const std::string& where,
                         const CountLimits& limits,
                         const std::function<void(const CountTrial&)>& told) {
    const auto start = std::chrono::steady_clock::now();
    ChosenCount chosen;
    Json tried = configuration;
    double best = 0;
    int without_gain = 0;
    uint64_t most = most_envs;
    uint32_t envs = limits.first ? limits.first : on->cuda() ? usual_first : 8u;
    std::exception_ptr first_fault;
    for (; chosen.reason.empty(); envs *= 2) {
        CountTrial& trial = chosen.trials.emplace_back(CountTrial{.envs = envs});
        const auto began = std::chrono::steady_clock::now();
        tried["env"]["count"] = envs;
        uint64_t steps = 0;
        try {
            const TrainingRow row = measure_training(on, plugins, tried, where, brief);
            trial.rate = row.whole.median;
            steps = row.steps;
        } catch (const std::exception& fault) {
            trial.fault = fault.what();
            if (best == 0 && !first_fault) first_fault = std::current_exception();
            if (best == 0 && envs >= usual_first) std::rethrow_exception(first_fault);
        }
        trial.seconds = seconds_since(began);
        told(trial);
        if (best == 0 && !trial.fault.empty()) {
            // Settings may ask for more, such as a pool of two policies.
            envs = usual_first / 2;
            continue;
        }
        const auto counts = [&](uint64_t count) { return counted(count, "environment"); };
        if (!trial.fault.empty()) {
            chosen.reason = counts(envs) + " cannot be: " + trial.fault;
            break;
        }
        without_gain = trial.rate > best * (1 + limits.gain) ? 0 : without_gain + 1;
        best = std::max(best, trial.rate);
        const uint64_t total = read_run_settings(tried, where, steps * envs).total_steps;
        most = std::min<uint64_t>(most, total / limits.iterations / std::max<uint64_t>(1, steps));
        // A trial of twice as many takes twice as long at most, but for what was compiled.
        const double all = seconds_since(start), next = all + 2 * trial.seconds;
        if (without_gain == 2)
            chosen.reason = "two trials in a row gained less than " + percent(limits.gain);
        else if (2 * uint64_t(envs) > most)
            chosen.reason = most < most_envs ? "with more, the run's " + std::to_string(total) +
                                                   " steps would be fewer than " +
                                                   std::to_string(limits.iterations) + " iterations"
                                             : "there may be no more";
        else if (next > limits.seconds)
            chosen.reason = "a further trial could have ended later than " +
                            rounded(limits.seconds, 3) + " s after the first one began";
    }
    for (const CountTrial& trial : chosen.trials)
        if (!chosen.envs && trial.rate >= best / (1 + limits.gain)) chosen.envs = trial.envs;
    chosen.seconds = seconds_since(start);
    return chosen;
}

Json count_json(const ChosenCount& chosen) {
    Json trials = Json::array();
    for (const CountTrial& trial : chosen.trials) {
        Json one = {{"envs", trial.envs}, {"seconds", trial.seconds}};
        if (trial.fault.empty()) one["steps_per_second"] = trial.rate;
        else one["fault"] = trial.fault;
        trials.push_back(one);
    }
    return {{"envs", chosen.envs},
            {"trials", trials},
            {"reason", chosen.reason},
            {"seconds", chosen.seconds}};
}

}
