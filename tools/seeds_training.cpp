#include "tools/seeds_training.h"

#include "engine/base/files.h"
#include "engine/base/signal_stack.h"
#include "engine/run/configuration.h"
#include "tools/interrupt.h"
#include "tools/output.h"
#include "tools/progress_line.h"
#include "tools/training_result.h"

#include <nacelle/plugin/failure_text.h>
#include <thread>

namespace nacelle::tools {

namespace {

// Whether all plugins of the configuration are ours. Instances of theirs might share state of the whole process, and
// the boundary does not ask them to bear several threads.
bool has_only_our_plugins(Plugins& plugins, const Json& configuration, const std::string& where) {
    const auto is_ours = [&](const char* kind, const std::string& name) {
        return plugins.find({kind, name})->manifest().id.starts_with("nacelle.");
    };
    Config top(configuration, where);
    if (!is_ours("learner/1", top.object("learner").text("name", "ppo"))) return false;
    for (const std::string& hook : top.object("hooks").keys())
        if (!is_ours("hook/1", hook)) return false;
    const Json sinks = top.object("run").any("sinks", Json::array());
    for (const Json& sink : sinks) {
        const Json name = sink.is_object() ? sink.value("name", Json()) : sink;
        if (name.is_string() && !is_ours("sink/1", name.get<std::string>())) return false;
    }
    return true;
}

int threads_of(const Options& options) {
    const int processors = std::max(1, int(std::thread::hardware_concurrency()));
    return options.threads ? options.threads : processors;
}

// One thread for each run as long as there are runs: a thread that waits for no other loses no time.
Sharing shared_cpu(int threads, size_t runs) {
    const int together = int(std::min<size_t>(size_t(threads), runs));
    Sharing sharing;
    for (int i = 0; i < together; ++i)
        sharing.threads.push_back(threads / together + (i < threads % together ? 1 : 0));
    const int least = sharing.threads.back(), most = sharing.threads.front();
    sharing.text = std::to_string(together) + " side by side, " + std::to_string(least) +
                   (most > least ? " or " + std::to_string(most) : "") +
                   (most == 1 ? " thread each" : " threads each");
    return sharing;
}

// As many runs as find room, in its memory and among its threads: one run of many environments fills a GPU. Eight small
// ones are done as soon as 32, which wait for each other in the driver (64 CartPoles in 4.0 s, one by one in 8.5; H100, 2026-11).
Sharing shared_gpu(const Options& options, TrainingRun& first, size_t taken, size_t runs) {
    constexpr size_t threads_of_processor = 2048, most = 8;
    Device& device = *first.environment().on().device;
    const Environment& env = first.environment();
    size_t agents = 0;
    for (uint32_t g = 0; g < env.schema().header().groups; ++g)
        agents += env.schema().header().group[g].count;
    const size_t others = device.memory_free() / 10 * 9 / std::max<size_t>(taken, 1),
                 filled = size_t(device.info().processors) * threads_of_processor /
                          (env.count() * agents);
    const size_t together = std::max<size_t>(
        std::min({1 + others, filled, most, size_t(threads_of(options)), runs}), 1);
    if (together == 1) return {{threads_of(options)}, "one after the other on the GPU"};
    return {std::vector<int>(together, 1), std::to_string(together) + " side by side on the GPU"};
}

bool shows_progress(const Training& training) { return !training.options.json && !training.quiet; }

}

OpenBackend::OpenBackend(const Options& options)
    : on(open_for_learner(options, true)), plugins(plugin_folders(options), on->cache, on->log) {}

SeedsTraining::SeedsTraining(Training& training, const std::filesystem::path& folder,
                             Json configuration, std::vector<SeedTask> tasks)
    : training_(training),
      configuration_(std::move(configuration)),
      tasks_(std::move(tasks)),
      progress_(tasks_.size(), shows_progress(training)) {
    report_.out = folder;
    for (const SeedTask& task : tasks_)
        report_.seeds.push_back({.seed = task.seed, .out = task.start.out});
}

std::unique_ptr<OpenBackend> SeedsTraining::open(int threads) const {
    Options options = training_.options;
    options.threads = threads;
    return std::make_unique<OpenBackend>(options);
}

bool SeedsTraining::asked_to_end() const { return interrupted() || output_gone_; }

std::unique_ptr<OpenBackend> SeedsTraining::open_first() {
    const int threads = threads_of(training_.options);
    sharing_ = shared_cpu(threads, tasks_.size());
    std::unique_ptr<OpenBackend> backend = open(sharing_.threads.front());
    if (has_only_our_plugins(backend->plugins, configuration_, tasks_.front().where))
        return backend;
    sharing_ = {{threads}, "one after the other, since a plugin is not Nacelle's own"};
    return backend->on->cuda() ? std::move(backend) : open(threads);
}
// What a run takes of a GPU is known once one has begun.
std::unique_ptr<TrainingRun> SeedsTraining::begin_first(OpenBackend& backend, bool may_throw) {
    const bool shares_gpu = backend.on->cuda() && sharing_.threads.size() > 1;
    const size_t free = shares_gpu ? backend.on->device->memory_free() : 0;
    std::unique_ptr<TrainingRun> first =
        may_throw ? begin(backend, next_++) : try_begin(backend, next_++);
    if (shares_gpu) {
        const size_t left = backend.on->device->memory_free();
        sharing_ = first ? shared_gpu(training_.options, *first, free > left ? free - left : 0,
                                      tasks_.size())
                         : Sharing{{1}, "one after the other on the GPU"};
    }
    return first;
}

// The first one compiles, before the others; they find its programs in the cache.
std::unique_ptr<TrainingRun> SeedsTraining::begin(OpenBackend& backend, size_t index) {
    const SeedTask& task = tasks_[index];
    std::unique_ptr<TrainingRun> run;
    const Json own =
        task.configuration.is_null() ? run_configuration(task.start.out) : task.configuration;
    with_configuration(task.resumed ? changed_by(training_.options, own, task.where)
                                    : changed_configuration(own, task.where, {}),
                       [&](const Json& its, const std::string& where) {
                           run = std::make_unique<TrainingRun>(
                               begin_environment(backend.on, backend.plugins, its, where),
                               backend.plugins, its, where, task.start);
                       });
    report_.seeds[index].begun = true;
    return run;
}

void SeedsTraining::tell(size_t index, const Progress& progress) {
    const std::lock_guard turn(telling_);
    if (training_.options.json && !training_.quiet) {
        Json line = progress_json(progress);
        line["seed"] = tasks_[index].seed;
        print_json(line);
    }
    progress_.show(index, progress);
    if (output_failed()) output_gone_ = true;
}

void SeedsTraining::train(TrainingRun& run, size_t index) {
    run.stop_when([this] { return asked_to_end(); });
    SeedResult& result = report_.seeds[index];
    uint64_t said = run.progress().steps;
    for (bool more = true; more;) {
        more = run.iterate();
        if (run.progress().steps == said) continue;
        said = run.progress().steps;
        for (const auto& [name, value] : run.progress().metrics)
            if (name == "episode.return") result.trained_return = value;
        tell(index, run.progress());
    }
    run.finish();
    {
        const std::lock_guard turn(telling_);
        kept_.emplace_back(run.out(), run.keeps());
    }
    result.solved = run.solved();
    result.stopped = run.stopped();
    result.steps = run.progress().steps;
    result.seconds = run.seconds();
    result.interrupted = asked_to_end() && !run.over();
    RunResult found = evaluate_run(
        run, training_.episodes, [this] { return asked_to_end(); }, false);
    result.evaluation = std::move(found.counted);
    result.greedy = found.counted_is_greedy;
    result.recordings = run.finish_recording();
}

std::unique_ptr<TrainingRun> SeedsTraining::try_begin(OpenBackend& backend, size_t index) {
    try {
        return begin(backend, index);
    } catch (const std::exception& failure) {
        report_.seeds[index].failure = plugin::failure_text(failure);
        return nullptr;
    }
}
void SeedsTraining::try_one(std::unique_ptr<TrainingRun> run, size_t index) {
    try {
        if (run) train(*run, index);
    } catch (const std::exception& failure) {
        report_.seeds[index].failure = plugin::failure_text(failure);
    }
    run.reset();
    const std::lock_guard turn(telling_);
    progress_.done(index);
}

void SeedsTraining::work(OpenBackend& backend) {
    for (size_t index; !asked_to_end() && (index = next_++) < tasks_.size();)
        try_one(try_begin(backend, index), index);
}

SeedsReport SeedsTraining::run(bool first_may_throw) {
    const std::unique_ptr<OpenBackend> backend = open_first();
    std::unique_ptr<TrainingRun> first = begin_first(*backend, first_may_throw);
    listen_for_signals(false,
                       first ? waits_for_iteration(first->environment().settings().source) : "");
    std::vector<std::jthread> others;
    for (size_t i = 1; i < sharing_.threads.size(); ++i)
        others.emplace_back([this, i, log = backend->on->log] {
            const SignalStack stack;    // an author's function may call itself without end
            try {
                work(*open(sharing_.threads[i]));
            } catch (const std::exception& error) {    // the others take the runs
                log.warn(plugin::failure_text(error));
            }
        });
    try_one(std::move(first), 0);
    work(*backend);
    others.clear();    // joins them
    sync_files(report_.out);
    for (const auto& [out, keep] : kept_)
        Checkpoints(out / "checkpoints").prune(keep, ~uint64_t(0));
    progress_.end();
    report_.how = sharing_.text;
    return std::move(report_);
}

}
