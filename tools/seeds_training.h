#pragma once
#include "tools/seeds_progress.h"
#include "tools/seeds_report.h"
#include "tools/training.h"

#include <atomic>
#include <mutex>

namespace nacelle::tools {

// One run to be trained.
struct SeedTask {
    uint64_t seed = 0;
    Json configuration;    // null: that of its directory
    std::string where;
    RunStart start;
    bool resumed = false;    // the options are to be laid over the configuration
};

// How the machine is shared: the threads of each of the runs that go on at a time.
struct Sharing {
    std::vector<int> threads;
    std::string text;
};

// A device with its plugins, for one run at a time.
struct OpenBackend {
    explicit OpenBackend(const Options& options);

    std::shared_ptr<RunsOn> on;
    Plugins plugins;
};

// Trains runs in one process, several at a time where there is room.
class SeedsTraining final {
public:
    // `configuration`: what all tasks have but for their seeds.
    SeedsTraining(Training& training, const std::filesystem::path& folder, Json configuration,
                  std::vector<SeedTask> tasks);

    // Throws what is wrong with the first run before it has begun, if `first_may_throw`: the others have the same
    // configuration.
    SeedsReport run(bool first_may_throw);

private:
    std::unique_ptr<OpenBackend> open_first();
    std::unique_ptr<OpenBackend> open(int threads) const;
    std::unique_ptr<TrainingRun> begin(OpenBackend& backend, size_t index);
    std::unique_ptr<TrainingRun> begin_first(OpenBackend& backend, bool may_throw);
    // Null where it could not begin; the report says why.
    std::unique_ptr<TrainingRun> try_begin(OpenBackend& backend, size_t index);
    void train(TrainingRun& run, size_t index);
    void try_one(std::unique_ptr<TrainingRun> run, size_t index);
    void work(OpenBackend& backend);
    void tell(size_t index, const Progress& progress);
    bool asked_to_end() const;

    Training& training_;
    Json configuration_;
    std::vector<SeedTask> tasks_;
    SeedsReport report_;
    Sharing sharing_;
    std::mutex telling_;
    SeedsProgress progress_;
    // Where runs have ended, and how many checkpoints are to stay there once all files are synced.
    std::vector<std::pair<std::filesystem::path, uint64_t>> kept_;
    std::atomic<size_t> next_{0};
    std::atomic<bool> output_gone_{false};
};

}
