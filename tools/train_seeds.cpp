#include "tools/train_seeds.h"

#include "engine/base/error.h"
#include "tools/seeds_training.h"

namespace nacelle::tools {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t largest_seed = uint64_t(1) << 53;

<<<<<<< HEAD
// One run to be trained.
struct SeedTask {
    uint64_t seed = 0;
    Json configuration;    // null: that of its directory
    std::string where;
    RunStart start;
    std::vector<std::string> assignments = {};    // over the configuration
};

// A device with its plugins, for one run at a time.
struct OpenBackend {
    explicit OpenBackend(const Options& options)
        : on(open_for_learner(options)), plugins(plugin_folders(options), on->cache, on->log) {}
    std::shared_ptr<RunsOn> on;
    Plugins plugins;
};

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

// How the machine is shared among the runs: `benches` of them at a time, with these threads each.
struct Sharing {
    std::vector<int> threads;
    std::string text;
};

int threads_of(const Options& options) {
    const int processors = std::max(1, int(std::thread::hardware_concurrency()));
    return options.threads ? options.threads : processors;
}

// One thread for each run as long as there are runs: a thread that waits for no other loses no time.
Sharing shared_cpu(int threads, size_t runs) {
    const int benches = int(std::min<size_t>(size_t(threads), runs));
    Sharing sharing;
    for (int i = 0; i < benches; ++i)
        sharing.threads.push_back(threads / benches + (i < threads % benches ? 1 : 0));
    const int least = sharing.threads.back(), most = sharing.threads.front();
    sharing.text = std::to_string(benches) + " side by side, " + std::to_string(least) +
                   (most > least ? " or " + std::to_string(most) : "") +
                   (most == 1 ? " thread each" : " threads each");
    return sharing;
}

class SeedsTraining final {
public:
    // `configuration`: what all tasks have but for their seeds.
    SeedsTraining(Training& training, const fs::path& folder, Json configuration,
                  std::vector<SeedTask> tasks)
        : training_(training),
          configuration_(std::move(configuration)),
          tasks_(std::move(tasks)),
          progress_(tasks_.size(), shows_progress(training)) {
        report_.out = folder;
        for (const SeedTask& task : tasks_)
            report_.seeds.push_back({.seed = task.seed, .out = task.start.out});
    }

    // Throws what is wrong with the first run before it has begun, if `first_may_throw`: the others have the same
    // configuration.
    SeedsReport run(bool first_may_throw);

private:
    static bool shows_progress(const Training& training) {
        return !training.options.json && !training.quiet;
    }
    std::unique_ptr<OpenBackend> open_first();
    std::unique_ptr<OpenBackend> open(int threads) const {
        Options options = training_.options;
        options.threads = threads;
        return std::make_unique<OpenBackend>(options);
    }
    std::unique_ptr<TrainingRun> begin(OpenBackend& backend, size_t index);
    void train(TrainingRun& run, size_t index);
    void try_one(OpenBackend& backend, size_t index);
    void work(OpenBackend& backend);
    void tell(size_t index, const Progress& progress);
    bool asked_to_end() const { return interrupted() || output_gone_; }

    Training& training_;
    Json configuration_;
    std::vector<SeedTask> tasks_;
    SeedsReport report_;
    Sharing sharing_;
    std::mutex beginning_, telling_;
    SeedsProgress progress_;
    std::atomic<size_t> next_{0};
    std::atomic<bool> output_gone_{false};
};

// On a GPU one run after the other: each fills it.
std::unique_ptr<OpenBackend> SeedsTraining::open_first() {
    const int threads = threads_of(training_.options);
    sharing_ = shared_cpu(threads, tasks_.size());
    std::unique_ptr<OpenBackend> backend = open(sharing_.threads.front());
    const bool cuda = backend->on->cuda();
    if (!cuda && has_only_our_plugins(backend->plugins, configuration_, tasks_.front().where))
        return backend;
    sharing_ = {{threads},
                cuda ? "one after the other on the GPU"
                     : "one after the other, since a plugin is not Nacelle's own"};
    return cuda ? std::move(backend) : open(threads);
}

// One at a time: the first one compiles, and the others find its programs in the cache.
std::unique_ptr<TrainingRun> SeedsTraining::begin(OpenBackend& backend, size_t index) {
    const std::lock_guard turn(beginning_);
    const SeedTask& task = tasks_[index];
    Json its =
        task.configuration.is_null() ? run_configuration(task.start.out) : task.configuration;
    for (const std::string& assignment : task.assignments) set_path(its, assignment);
    auto run = std::make_unique<TrainingRun>(
        begin_environment(backend.on, backend.plugins, its, task.where), backend.plugins, its,
        task.where, task.start);
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
    uint64_t said = run.progress().steps;
    for (bool more = true; more;) {
        more = run.iterate();
        if (run.progress().steps == said) continue;
        said = run.progress().steps;
        tell(index, run.progress());
    }
    run.finish();
    SeedResult& result = report_.seeds[index];
    result.solved = run.solved();
    result.stopped = run.stopped();
    result.steps = run.progress().steps;
    result.seconds = run.seconds();
    result.interrupted = asked_to_end() && !run.over();
    if (!asked_to_end()) result.evaluation = run.evaluate(training_.episodes);
    result.recordings = run.finish_recording();
}

void SeedsTraining::try_one(OpenBackend& backend, size_t index) {
    try {
        const std::unique_ptr<TrainingRun> run = begin(backend, index);
        train(*run, index);
    } catch (const std::exception& failure) {
        report_.seeds[index].failure = failure.what();
    }
    const std::lock_guard turn(telling_);
    progress_.done(index);
}

void SeedsTraining::work(OpenBackend& backend) {
    for (size_t index; !asked_to_end() && (index = next_++) < tasks_.size();)
        try_one(backend, index);
}

SeedsReport SeedsTraining::run(bool first_may_throw) {
    const std::unique_ptr<OpenBackend> backend = open_first();
    std::unique_ptr<TrainingRun> first;
    if (first_may_throw) first = begin(*backend, next_++);
    listen_for_signals();
    std::vector<std::jthread> others;
    for (size_t i = 1; i < sharing_.threads.size(); ++i)
        others.emplace_back([this, i, log = backend->on->log] {
            try {
                work(*open(sharing_.threads[i]));
            } catch (const std::exception& error) {    // the others take the runs
                log.warn(error.what());
            }
        });
    if (first) {
        try {
            train(*first, 0);
        } catch (const std::exception& failure) {
            report_.seeds.front().failure = failure.what();
        }
        first.reset();
        const std::lock_guard turn(telling_);
        progress_.done(0);
    }
    work(*backend);
    others.clear();    // joins them
    progress_.end();
    report_.how = sharing_.text;
    return std::move(report_);
}

=======
>>>>>>> work-runs
void print_and_end(const Training& training, SeedsReport report) {
    report.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - training.start).count();
    training.options.json ? print_report_lines(report) : print_report(report);
    if (any_failed(report)) throw EndWith{1};
}

RunStart start_of(const Training& training, const fs::path& out) {
    RunStart start{.out = out};
    if (training.record.wanted()) start.record = training.record.settings();
    return start;
}

void require_no_seed(const std::vector<std::string>& assignments, const fs::path& folder) {
    for (const std::string& assignment : assignments) {
        Json probe = {{"seed", nullptr}};
        set_path(probe, assignment);
        if (!probe["seed"].is_null())
            throw Error("--set " + assignment,
                        "cannot be: each run of " + folder.string() + " has its own seed");
    }
}

// The folder of new runs, locked by `lock`.
fs::path make_seeds_folder(const fs::path& out, const fs::path& next, bool& made) {
    if (out.empty()) {
        made = true;
        return make_next_directory(next);
    }
    require_no_seeds(out);
    std::error_code error;
    made = fs::create_directories(out, error);
    if (error) throw Error(out.string(), "cannot be made: " + error.message());
    return out;
}

}

void train_seeds(Training& training, const Json& configuration, const std::string& where,
                 uint64_t count, const fs::path& out, const fs::path& next) {
    const uint64_t first =
        uint64_t(Config(configuration, where).integer("seed", 1, 0, int64_t(largest_seed)));
    if (first + count - 1 > largest_seed)
        throw Error("--seeds", "the last of " + std::to_string(count) + " seeds from " +
                                   std::to_string(first) + " on would be above 2^53");
    bool made = false;
    SeedsFolder folder{.path = make_seeds_folder(out, next, made),
                       .first = first,
                       .count = count,
                       .configuration = configuration,
                       .where = where};
    const Descriptor lock = lock_directory(folder.path);
    require_no_seeds(folder.path);
    std::vector<SeedTask> tasks;
    for (uint64_t seed = first; seed < first + count; ++seed) {
        require_no_run(folder.run_of(seed));
        tasks.push_back({.seed = seed,
                         .configuration = folder.configuration_of(seed),
                         .where = where,
                         .start = start_of(training, folder.run_of(seed))});
    }
    write_seeds(folder);
    SeedsTraining seeds(training, folder.path, configuration, std::move(tasks));
    SeedsReport found;
    try {
        found = seeds.run(true);
    } catch (...) {    // nothing has begun
        remove_seeds(folder);
        std::error_code ignored;
        if (made) fs::remove(folder.path, ignored);
        throw;
    }
    print_and_end(training, std::move(found));
}

void resume_seeds(Training& training, const fs::path& path, bool changed_source) {
    if (training.web.web)
        throw Error("--web",
                    "shows one run, and " + path.string() + " holds those of several seeds",
                    "resume one of them, such as " + path.string() + "/seed-1");
    if (!training.record.to.empty())
        throw Error("--record-to",
                    "names one file, and " + path.string() + " holds the runs of several seeds",
                    "without it each run records into its own folder");
    SeedsFolder folder = read_seeds(path);
    require_no_seed(training.options.assignments, path);
    const Descriptor lock = lock_directory(path);
    std::vector<SeedTask> tasks;
    for (uint64_t seed = folder.first; seed < folder.first + folder.count; ++seed) {
        const fs::path out = folder.run_of(seed);
        const bool begun = holds_run(out);
        SeedTask task{.seed = seed,
                      .configuration = begun ? Json() : folder.configuration_of(seed),
                      .where = begun ? (out / "config.json").string() : folder.where,
                      .start = start_of(training, out),
                      .assignments = training.options.assignments};
        task.start.resume = begun;
        task.start.changed_source = changed_source;
        tasks.push_back(std::move(task));
    }
    for (const std::string& assignment : training.options.assignments)
        set_path(folder.configuration, assignment);
    SeedsTraining seeds(training, path, folder.configuration, std::move(tasks));
    print_and_end(training, seeds.run(false));
}

}
