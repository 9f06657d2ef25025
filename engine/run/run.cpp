#include "engine/run/run.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/plugins/run_hook.h"

#include <chrono>
#include <cmath>

namespace nacelle {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// The first episode of some environments since the totals were taken, as they go on.
class FirstEpisodes final {
public:
    FirstEpisodes(Environment& env, size_t count)
        : env_(env),
          returns_(env.schema().header().policies, std::vector<double>(count)),
          lengths_(count),
          over_(count) {}

    bool all_ended() const { return ended_ == over_.size(); }
    void see_step() {
        const std::vector<bool> terminated = env_.arrays()["terminated"].host<bool>(),
                                truncated = env_.arrays()["truncated"].host<bool>();
        const bool team = env_.schema().header().is_team;
        std::vector<float> reward;
        std::vector<double> total;
        if (team) total = env_.arrays()["total"].host<double>();
        else reward = env_.arrays()["reward"].host<float>();
        for (size_t i = 0; i < over_.size(); ++i) {
            if (over_[i]) continue;
            lengths_[i] += 1;
            if (!team) returns_[0][i] += reward[i];
            over_[i] = terminated[i] || truncated[i];
            ended_ += over_[i];
            if (team && over_[i]) take_returns(total, i);
        }
    }
    Evaluation evaluation() const {
        Evaluation found;
        found.episodes = ended_;
        summarise(lengths_, found.mean_length, found.length_interval);
        const Header& header = env_.schema().header();
        for (size_t p = 0; p < returns_.size(); ++p) {
            Evaluation::Policy policy{.name = header.policy[p].name};
            summarise(returns_[p], policy.mean_return, policy.return_interval);
            found.policies.push_back(policy);
        }
        found.mean_return = found.policies[0].mean_return;
        found.return_interval = found.policies[0].return_interval;
        return found;
    }

private:
    // The totals of a team hold one episode, then: they count each policy's agents by themselves.
    void take_returns(const std::vector<double>& total, size_t env) {
        const size_t kept = total.size() / env_.count();
        for (size_t p = 0; p < returns_.size(); ++p)
            returns_[p][env] = total[env * kept + 2 + 2 * p];
    }
    static void summarise(const std::vector<double>& values, double& mean, double& interval) {
        const auto count = double(values.size());
        double sum = 0, squares = 0;
        for (const double value : values) sum += value;
        mean = sum / count;
        for (const double value : values) squares += (value - mean) * (value - mean);
        interval = count > 1 ? 1.96 * std::sqrt(squares / (count - 1) / count) : 0;
    }

    Environment& env_;
    std::vector<std::vector<double>> returns_;    // of each policy
    std::vector<double> lengths_;
    std::vector<bool> over_;
    size_t ended_ = 0;
};

}

std::shared_ptr<Environment> load_environment(std::shared_ptr<RunsOn> on, Plugins& plugins,
                                              const Json& configuration, const std::string& where) {
    Config top(configuration, where);
    const uint64_t seed = static_cast<uint64_t>(top.integer("seed", 1, 0, int64_t(1) << 53));
    const Json hooks = top.object("hooks").json();
    for (const char* const key : {"learner", "run", "solved"}) top.any(key);    // a TrainingRun's
    const EnvSettings settings = read_env_settings(top.object("env"), seed, on->env_folders);
    top.finish("the configuration");
    return std::make_shared<Environment>(std::move(on), settings, [&](Environment& env) {
        for (const auto& [hook, config] : hooks.items())
            run_hook(plugins, env, hook, config, settings.source.parent_path());
    });
}

TrainingRun::TrainingRun(std::shared_ptr<Environment> environment, Plugins& plugins,
                         Json configuration, const std::string& where, std::filesystem::path out)
    : out_(std::move(out)), environment_(std::move(environment)) {
    Config top(configuration, where);
    for (const char* const key : {"env", "seed", "hooks"}) top.any(key);
    Config learner = top.object("learner");
    const std::string name = learner.text("name", "random_search");
    Config run = top.object("run");
    progress_.total_steps =
        static_cast<uint64_t>(run.integer("total_steps", 10000000, 1, int64_t(1) << 53));
    evaluate_every_ = static_cast<uint64_t>(run.integer("evaluate_every", 1, 1, 1000000));
    const std::vector<std::string> sinks = run.texts("sinks", {"jsonl"});
    run.finish("run");
    Config solved = top.object("solved");
    has_criterion_ = solved.has("return");
    solved_return_ = solved.number("return", 0);
    solved_episodes_ = static_cast<uint64_t>(solved.integer("episodes", 100, 1, 1000000));
    solved.finish("solved");
    top.finish("the configuration");

    learner_ = std::make_unique<LearnerInstance>(plugins, *environment_, name, learner.json());
    const uint64_t steps = learner_->steps_per_iteration();
    environment_->set_run_length(
        std::max<uint64_t>(1, progress_.total_steps / environment_->count()));
    if (!out_.empty()) write_directory(configuration);
    for (const std::string& sink : sinks)
        if (!out_.empty()) sinks_.push_back(std::make_unique<SinkInstance>(plugins, sink, out_));
    environment_->on().stream->begin_capture();
    learner_->record(environment_->on().stream->native());
    graph_ = environment_->on().stream->end_capture();
    if (steps == 0) throw Error(name, "an iteration of no steps would never end");
}

void TrainingRun::write_directory(const Json& configuration) {
    std::error_code error;
    std::filesystem::create_directories(out_ / "source", error);
    if (error) throw Error(out_.string(), "cannot be made: " + error.message());
    write_file(out_ / "config.json", configuration.dump(2) + "\n");
    const std::filesystem::path& source = environment_->settings().source;
    write_file(out_ / "source" / source.filename(), read_file(source));
}

bool TrainingRun::iterate() {
    if (solved_ || progress_.steps >= progress_.total_steps) return false;
    const Clock::time_point start = Clock::now();
    environment_->on().stream->replay(*graph_);
    environment_->on().stream->synchronize();
    const double seconds = seconds_since(start);
    environment_->check_finite();
    const uint64_t steps = learner_->steps_per_iteration();
    ++progress_.iteration;
    progress_.steps += steps;
    progress_.steps_per_second = double(steps) / std::max(seconds, 1e-9);
    progress_.metrics = learner_->metrics();
    const Totals totals = environment_->take_totals();
    progress_.metrics.emplace_back("episodes", totals.episodes);
    progress_.metrics.emplace_back("episode.return", totals.mean_return);
    progress_.metrics.emplace_back("episode.return_deviation", totals.return_deviation);
    progress_.metrics.emplace_back("episode.length", totals.mean_length);
    for (const Totals::Policy& policy : totals.policies)
        if (totals.policies.size() > 1)
            progress_.metrics.emplace_back("policy." + policy.name + ".return", policy.mean_return);
    for (const auto& [name, value] : totals.log)
        progress_.metrics.emplace_back("log." + name, value);
    progress_.metrics.emplace_back("steps_per_second", progress_.steps_per_second);
    if (has_criterion_ && progress_.iteration % evaluate_every_ == 0) {
        const Evaluation found = evaluate(solved_episodes_);
        progress_.metrics.emplace_back("evaluation.return", found.mean_return);
        progress_.metrics.emplace_back("evaluation.length", found.mean_length);
        solved_ = found.mean_return >= solved_return_;
    }
    write_metrics();
    train_seconds_ += seconds_since(start);
    return !solved_ && progress_.steps < progress_.total_steps;
}

void TrainingRun::write_metrics() {
    for (const auto& sink : sinks_) sink->write(progress_.steps, progress_.metrics);
}

Evaluation TrainingRun::evaluate(uint64_t episodes) {
    Environment& env = *environment_;
    const uint32_t limit = env.schema().header().time_limit;
    env.reset();
    env.take_totals();
    FirstEpisodes first(env, std::min<size_t>(episodes, env.count()));
    for (uint32_t t = 0; !first.all_ended() && t < (limit ? limit : 100000u); ++t) {
        learner_->act(true);
        env.step();
        first.see_step();
    }
    env.check_finite();
    env.take_totals();
    return first.evaluation();
}

void TrainingRun::finish() {
    for (const auto& sink : sinks_) sink->flush();
}

}
