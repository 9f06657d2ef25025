#include "engine/run/training_benchmark.h"

#include "engine/base/error.h"
#include "engine/run/resolved.h"

#include <algorithm>
#include <cmath>

namespace nacelle {
namespace {

constexpr int warm_up_iterations = 3, most_iterations = 10000;

void require_finite(const std::string& learner, const MetricValues& metrics) {
    for (const auto& [name, value] : metrics)
        if (!std::isfinite(value))
            throw Error(learner, name + " is not a finite number after the measured iterations",
                        "no rate is told of an update that may have been skipped; a smaller "
                        "learning rate may help");
}

// The spread of the values, if there are any.
template <class Summary>
auto seen(std::vector<double> values, Summary summary)
    -> std::optional<decltype(summary(std::move(values)))> {
    if (values.empty()) return std::nullopt;
    return summary(std::move(values));
}
double median_of(std::vector<double> values) { return spread_of(std::move(values)).median; }

// The operations of one iteration's update. Policy gradients tell them by their metric "updates" ("POLICY.updates"
// where there are several policies), their setting "minibatches" and their arrays LEARNER.POLICY.policy.weights; a central
// critic's and a pool of the past lie beside those.
// Other learners have rates alone.
class UpdateWork final {
public:
    UpdateWork(Trainee& trainee, const TrainingRow& row) {
        const Json learner = row.settings.value("learner", Json::object());
        const double minibatches = learner.value("minibatches", Json()).is_number()
                                       ? learner["minibatches"].get<double>()
                                       : 0;
        Environment& env = trainee.environment();
        const Header& header = env.schema().header();
        for (uint32_t p = 0; p < header.policies; ++p) {
            const std::string name = header.policy[p].name;
            const auto array = [&](const char* of) -> const NamedArray* {
                return env.arrays().find(row.learner + "." + name + of);
            };
            const NamedArray* const weights = array(".policy.weights");
            const NamedArray* const critic = array(".critic.policy.weights");
            // Of a policy that plays its past half of the rows learn.
            const double samples = double(row.steps) * row.envs * header.policy[p].agents /
                                   (array(".past.weights") ? 2 : 1);
            const bool known = weights && minibatches > 0;
            const double all =
                known ? double(weights->count()) + (critic ? double(critic->count()) : 0) : 0;
            policies_.push_back({(header.policies > 1 ? name + "." : "") + "updates",
                                 known ? 6.0 * all * samples / minibatches : 0});
        }
    }
    std::optional<double> updates(const MetricValues& metrics) const {
        std::optional<double> sum;
        for (const Policy& policy : policies_)
            if (const double* const count = metric(metrics, policy.metric))
                sum = sum.value_or(0) + *count;
        return sum;
    }
    // 0 where the work of a policy is unknown.
    double operations(const MetricValues& metrics) const {
        double sum = 0;
        for (const Policy& policy : policies_)
            if (const double* const count = metric(metrics, policy.metric)) {
                if (policy.operations == 0) return 0;
                sum += *count * policy.operations;
            }
        return sum;
    }

private:
    struct Policy {
        std::string metric;
        double operations;    // of one update
    };
    std::vector<Policy> policies_;
};

// "env", "learner" and "policies", without settings of this machine.
Json shown_settings(Json all) {
    Json shown = {{"env", all["env"]}, {"learner", all["learner"]}};
    Json& source = shown["env"]["source"];
    source = std::filesystem::path(source.get<std::string>()).stem().string();
    if (all.contains("policies")) shown["policies"] = all["policies"];
    return shown;
}

// Enough iterations to make the host's part negligible.
int iterations_in(double seconds, double of_one) {
    const double wanted = std::ceil(seconds / std::max(of_one, 1e-9));
    return int(std::clamp(wanted, 1.0, double(most_iterations)));
}

// The metrics of the learner after each repetition.
class Telling final {
public:
    Telling(Trainee& trainee, const TrainingRow& row) : work_(trainee, row) {}

    void add(const MetricValues& metrics, double steps_each) {
        const double rolled = rate(metrics, "rollout.steps_per_second"),
                     updated = rate(metrics, "update.steps_per_second");
        if (rolled > 0) rollout_.push_back(rolled);
        if (updated > 0) update_.push_back(updated);
        if (const std::optional<double> count = work_.updates(metrics)) updates_.push_back(*count);
        const double operations = updated > 0 ? work_.operations(metrics) : 0;
        if (operations > 0) teraflops_.push_back(operations * updated / steps_each * 1e-12);
    }
    void fill(TrainingRow& row) const {
        row.rollout = seen(rollout_, spread_of);
        row.update = seen(update_, spread_of);
        row.updates = seen(updates_, median_of);
        row.teraflops = seen(teraflops_, median_of);
    }

private:
    // 0 where it is unknown, or no time passed.
    static double rate(const MetricValues& metrics, const char* name) {
        const double* const found = metric(metrics, name);
        return found ? *found : 0;
    }
    UpdateWork work_;
    std::vector<double> rollout_, update_, updates_, teraflops_;
};

TrainingRow begin_row(Trainee& trainee, const Json& configuration, const RunSettings& run,
                      int repetitions) {
    const Environment& env = trainee.environment();
    return {.environment = env.name(),
            .learner = trainee.learner().name(),
            .envs = env.count(),
            .agents = env.schema().header().agents,
            .steps = trainee.learner().steps_per_iteration() / env.count(),
            .repetitions = repetitions,
            .settings = shown_settings(resolved(configuration, trainee, run))};
}

}

TrainingRow measure_training(std::shared_ptr<RunsOn> on, Plugins& plugins,
                             const Json& configuration, const std::string& where,
                             const TrainingMeasure& measure) {
    Trainee trainee(begin_environment(std::move(on), plugins, configuration, where), plugins,
                    configuration, where);
    Environment& env = trainee.environment();
    LearnerInstance& learner = trainee.learner();
    RunRanks ranks(env.on());
    const uint64_t steps_each = learner.steps_per_iteration() * ranks.count();
    const RunSettings run = read_run_settings(configuration, where, steps_each);
    TrainingRow row = begin_row(trainee, configuration, run, measure.repetitions);
    env.set_progress(EpisodeProgress::over(
        std::max<uint64_t>(1, run.total_steps / env.count() / ranks.count())));
    Stream& stream = *env.on().stream;
    Iteration iteration = trainee.iteration();
    const auto train = [&] { iteration.run(); };
    for (int i = 0; i < warm_up_iterations; ++i) train();
    row.iterations = iterations_in(measure.seconds, stream.time(train) * 1e-3);
    row.iterations = int(ranks.decide(uint64_t(row.iterations), false).number);
    Telling telling(trainee, row);
    std::vector<double> whole;
    for (int i = 0; i < measure.repetitions; ++i) {
        const double seconds = 1e-3 * stream.time([&] {
            for (int n = 0; n < row.iterations; ++n) train();
        });
        row.seconds += seconds;
        whole.push_back(double(steps_each) * row.iterations / seconds);
        const MetricValues metrics = learner.metrics();
        require_finite(learner.name(), metrics);
        telling.add(metrics, double(steps_each));
    }
    env.check_finite();
    row.whole = spread_of(std::move(whole));
    telling.fill(row);
    return row;
}

}
