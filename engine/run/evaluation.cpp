#include "engine/run/evaluation.h"

#include "engine/base/error.h"
#include "engine/base/mean_interval.h"

#include <nacelle/programs/evaluation.h>

namespace nacelle {
namespace {

// The steps in a graph, and in a launch of a learner that takes steps itself. The host checks only after each of
// these whether all episodes have ended: waiting costs a GPU more than some superfluous steps.
constexpr uint32_t chunk = 25, steps_of_a_launch = 128;
static_assert(chunk <= Recorder::most_steps);

constexpr const char* kernel_name = "nacelle_first_episodes";

const ProgramText evaluation_text{
    .instantiation = "#include <nacelle/programs/evaluation.h>\nNACELLE_EVALUATION()\n",
    .headers = {},
    .defines = {}};

void summarise(const std::vector<double>& values, double& mean, double& interval,
               Evaluation::Bounds& bounds) {
    const MeanInterval found = mean_interval(values);
    mean = found.mean;
    interval = found.interval;
    const bool share = std::all_of(values.begin(), values.end(),
                                   [](double value) { return value == 0 || value == 1; });
    bounds = {mean - interval, mean + interval};
    if (!share) return;
    const ShareInterval its = share_interval(mean, double(values.size()));
    bounds = {its.low, its.high};
}

// Otherwise a learner may take many steps in one launch.
bool looks_at_steps(const EvaluationRequest& request) { return request.recorder || request.logs; }

}

// splitmix64 over both: neighbouring seeds and purposes give unrelated values.
uint64_t evaluation_seed(uint64_t seed, EvaluationPurpose purpose) {
    uint64_t z = seed + 0x9e3779b97f4a7c15ull * static_cast<uint64_t>(purpose);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

// Keeps and restores the environments' arrays, clock, progress and seed, in copies on the device: copies through the
// host would take longer than the evaluation. Arrays of plugins are not copied: a replay buffer may be most of the
// memory.
class Evaluator::Kept final {
public:
    explicit Kept(Evaluator& owner)
        : owner_(owner), tick_(owner.env_.tick()), progress_(owner.env_.progress()) {
        for (auto& [array, copy] : owner.copies_)
            stream().copy(copy.data(), array->device(), array->bytes());
    }
    ~Kept() {
        try {
            if (!restored_) restore();
        } catch (const std::exception&) {
            // An earlier failure is on its way to the caller.
        }
    }
    // The destructor cannot report a failure, so the caller restores first.
    void restore() {
        for (auto& [array, copy] : owner_.copies_)
            stream().copy(array->device(), copy.data(), array->bytes());
        owner_.env_.set_tick(tick_);
        owner_.env_.set_progress(progress_);
        owner_.env_.set_seed(owner_.env_.settings().seed);
        restored_ = true;
    }
    Kept(const Kept&) = delete;
    Kept& operator=(const Kept&) = delete;

private:
    Stream& stream() { return *owner_.env_.on().stream; }

    Evaluator& owner_;
    uint64_t tick_;
    EpisodeProgress progress_;
    bool restored_ = false;
};

Evaluator::Evaluator(Environment& environment, std::unique_ptr<Actor> actor)
    : env_(environment), actor_(std::move(actor)) {}

Evaluator::Evaluator(Environment& environment, LearnerInstance& learner)
    : Evaluator(environment, std::make_unique<LearnerActor>(learner)) {}

Evaluator::~Evaluator() {
    graph_.reset();
    if (program_) env_.programs().release(*program_);
}

void Evaluator::reloaded() {
    graph_.reset();
    copies_.clear();
    if (program_) first_episodes_ = program_->kernel(kernel_name);
}

Evaluation Evaluator::play(const EvaluationRequest& request) {
    Episodes found;
    found.returns.resize(env_.schema().header().policies);
    const auto most = static_cast<uint32_t>(std::min<uint64_t>(request.episodes, env_.count()));
    if (request.logs) found.logs.resize(env_.schema().log_names().size());
    prepare(most, request);
    bool stopped = false;
    {
        Kept kept(*this);
        env_.set_seed(request.seed);
        if (request.tick) env_.set_tick(*request.tick);
        env_.set_progress(EpisodeProgress::ended());
        // Later rounds draw other numbers, since the clock advances.
        Recorder* recorder = request.recorder;
        for (uint64_t left = request.episodes; left > 0 && !stopped;) {
            const auto now = static_cast<uint32_t>(std::min<uint64_t>(left, most));
            stopped = !play_round(now, request, std::exchange(recorder, nullptr), found);
            left -= now;
        }
        if (!stopped) env_.check_finite();
        kept.restore();
    }
    if (stopped) return {.stopped = true};
    Evaluation evaluation{.episodes = request.episodes, .unfinished = found.unfinished};
    Evaluation::Bounds lengths;
    summarise(found.lengths, evaluation.mean_length, evaluation.length_interval, lengths);
    for (size_t p = 0; p < found.returns.size(); ++p) {
        Evaluation::Policy policy{.name = env_.schema().header().policy[p].name};
        summarise(found.returns[p], policy.mean_return, policy.return_interval,
                  policy.return_bounds);
        evaluation.policies.push_back(policy);
    }
    for (size_t k = 0; k < found.logs.size(); ++k) {
        if (found.logs[k].empty()) continue;
        Evaluation::Log log{.name = env_.schema().log_names()[k]};
        summarise(found.logs[k], log.mean, log.interval, log.bounds);
        evaluation.log.push_back(log);
    }
    evaluation.mean_return = evaluation.policies[0].mean_return;
    evaluation.return_interval = evaluation.policies[0].return_interval;
    evaluation.return_bounds = evaluation.policies[0].return_bounds;
    return evaluation;
}

void Evaluator::prepare(uint32_t episodes, const EvaluationRequest& request) {
    const std::shared_ptr<Device>& device = env_.on().device;
    if (copies_.empty())
        for (NamedArray& array : env_.arrays().all())
            if (array.role() != Role::plugin)
                copies_.emplace_back(&array, Buffer(device, array.bytes()));
    if (over_.bytes() < episodes) {
        returns_ = Buffer(device, sizeof(double) * episodes * env_.schema().header().policies);
        lengths_ = Buffer(device, sizeof(int32_t) * episodes);
        over_ = Buffer(device, episodes);
        graph_.reset();
    }
    // A reload may bring another Log.
    const size_t logs = sizeof(float) * over_.bytes() * env_.schema().log_names().size();
    if (logs_.bytes() < logs) {
        logs_ = Buffer(device, logs);
        graph_.reset();
    }
    if (looks_at_steps(request) || !actor_->most_steps())
        prepare_graph(episodes, request.greedy, request.recorder);
}

const Kernel& Evaluator::first_episodes() {
    if (!program_) {
        program_ = &env_.programs().add(evaluation_text);
        first_episodes_ = program_->kernel(kernel_name);
    }
    return first_episodes_;
}

void Evaluator::prepare_graph(uint32_t episodes, bool greedy, Recorder* recorder) {
    if (graph_ && graph_episodes_ == episodes && graph_greedy_ == greedy && !recorder &&
        !graph_records_)
        return;
    first_episodes();
    if (actor_->on_host()) return;
    // A learner whose act() waits or copies cannot be captured: its steps are enqueued one by one, where other errors
    // show as well.
    Stream& stream = *env_.on().stream;
    graph_.reset();
    graph_episodes_ = episodes;
    graph_greedy_ = greedy;
    graph_records_ = recorder != nullptr;
    stream.begin_capture();
    bool captured = true;
    try {
        record_steps(episodes, greedy, recorder);
    } catch (const std::exception&) {
        captured = false;
    }
    try {
        graph_ = stream.end_capture();
    } catch (const std::exception&) {
        captured = false;
    }
    if (!captured) graph_.reset();
}

void Evaluator::record_steps(uint32_t episodes, bool greedy, Recorder* recorder) {
    for (uint32_t t = 0; t < chunk; ++t) {
        actor_->act(greedy, episodes, env_.on().stream->native());
        env_.record_step(false, 0, episodes);
        env_.record_ticks(1);
        note(episodes, false);
        if (recorder) recorder->put(t);
    }
}

void Evaluator::note(uint32_t episodes, bool cut) {
    const FirstEpisodesArgs args{.returns = static_cast<double*>(returns_.data()),
                                 .lengths = static_cast<int32_t*>(lengths_.data()),
                                 .over = static_cast<uint8_t*>(over_.data()),
                                 .logs = static_cast<float*>(logs_.data()),
                                 .envs = episodes,
                                 .cut = cut};
    env_.launch(first_episodes(), thread_each(episodes), args_of(args));
}

// Takes at most this many steps, or those of a graph; returns their number.
uint32_t Evaluator::take_steps(uint32_t episodes, uint32_t most, const EvaluationRequest& request,
                               Recorder* recorder) {
    Stream& stream = *env_.on().stream;
    if (actor_->most_steps() && !looks_at_steps(request)) {
        const nacelle_first_episodes first{.size = sizeof first,
                                           .envs = episodes,
                                           .returns = static_cast<double*>(returns_.data()),
                                           .lengths = static_cast<int32_t*>(lengths_.data()),
                                           .over = static_cast<uint8_t*>(over_.data())};
        const uint32_t steps = std::min({steps_of_a_launch, most, actor_->most_steps()});
        actor_->act(request.greedy, steps, first, stream.native());
        env_.record_ticks(steps);
        return steps;
    }
    // Later rounds are not recorded; nobody reads the copies that a graph makes then.
    if (graph_ && episodes == graph_episodes_) stream.replay(*graph_);
    else record_steps(episodes, request.greedy, recorder);
    if (recorder) recorder->take(chunk);
    return chunk;
}

bool Evaluator::all_over(uint32_t episodes, std::vector<uint8_t>& over) {
    over.resize(episodes);
    env_.on().stream->to_host(over.data(), over_.data(), episodes);
    env_.on().stream->synchronize();
    return std::find(over.begin(), over.end(), 0) == over.end();
}

bool Evaluator::play_round(uint32_t episodes, const EvaluationRequest& request, Recorder* recorder,
                           Episodes& found) {
    Stream& stream = *env_.on().stream;
    const uint32_t limit = env_.schema().header().time_limit, last = limit ? limit : most_steps;
    const uint64_t began = env_.tick();
    for (NamedArray& array : env_.arrays().all())
        if (array.role() == Role::total) stream.fill(array.device(), 0, array.bytes());
    stream.fill(over_.data(), 0, episodes);
    env_.record_restart(episodes);
    actor_->begin(episodes, request.seed);
    if (recorder) recorder->begin(episodes, 1, request.seed, request.trained);
    std::vector<uint8_t> over;
    bool done = false;
    for (uint32_t t = 0; !done && t < last;) {
        if (request.stop && request.stop()) return false;
        t += take_steps(episodes, last - t, request, recorder);
        done = all_over(episodes, over);
    }
    if (recorder) recorder->finish(true);
    found.unfinished += uint64_t(std::count(over.begin(), over.end(), 0));
    if (!done) note(episodes, true);
    take_results(episodes, found);
    if (!found.logs.empty()) take_logs(over, found);
    // A round takes the same number of ticks however its steps were launched, so that the next one draws the same
    // numbers.
    env_.set_tick(began + last + steps_of_a_launch);
    return true;
}

void Evaluator::take_results(uint32_t episodes, Episodes& found) {
    Stream& stream = *env_.on().stream;
    std::vector<double> returns(size_t(episodes) * found.returns.size());
    std::vector<int32_t> lengths(episodes);
    stream.to_host(returns.data(), returns_.data(), returns.size() * sizeof(double));
    stream.to_host(lengths.data(), lengths_.data(), lengths.size() * sizeof(int32_t));
    stream.synchronize();
    found.lengths.insert(found.lengths.end(), lengths.begin(), lengths.end());
    for (size_t p = 0; p < found.returns.size(); ++p) {
        const auto first = returns.begin() + std::ptrdiff_t(p * episodes);
        found.returns[p].insert(found.returns[p].end(), first, first + episodes);
    }
}

void Evaluator::take_logs(const std::vector<uint8_t>& over, Episodes& found) {
    Stream& stream = *env_.on().stream;
    std::vector<float> numbers(over.size() * found.logs.size());
    stream.to_host(numbers.data(), logs_.data(), numbers.size() * sizeof(float));
    stream.synchronize();
    for (size_t i = 0; i < numbers.size(); ++i)
        if (over[i % over.size()]) found.logs[i / over.size()].push_back(double(numbers[i]));
}

}
