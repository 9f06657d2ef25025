#include "tools/train_seeds.h"

#include "engine/base/error.h"
#include "engine/base/seconds_since.h"
#include "tools/crash_watch.h"
#include "tools/ranks.h"
#include "tools/seeds_training.h"

namespace nacelle::tools {
namespace fs = std::filesystem;
namespace {

void print_and_end(const Training& training, SeedsReport report) {
    report.seconds = seconds_since(training.start);
    training.options.json ? print_report_lines(report) : print_report(report);
    if (any_failed(report)) throw EndWith{1};
}

RunStart start_of(const Training& training, const fs::path& out) {
    RunStart start{.out = out, .synced_together = true};
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

LockedDirectory make_seeds_folder(const fs::path& out, const fs::path& next) {
    if (out.empty()) return make_next_directory(next);
    require_no_seeds(out);
    LockedDirectory folder = make_locked_directory(out);
    require_own_folder(out);
    return folder;
}

}

void train_seeds(Training& training, const Json& configuration, const std::string& where,
                 uint64_t count, const fs::path& out, const fs::path& next) {
    const uint64_t first =
        uint64_t(Config(configuration, where).integer("seed", 1, 0, largest_seed));
    if (first + count - 1 > uint64_t(largest_seed))
        throw Error("--seeds", "the last of " + std::to_string(count) + " seeds from " +
                                   std::to_string(first) + " on would be above 2^53");
    const LockedDirectory locked = make_seeds_folder(out, next);
    SeedsFolder folder{.path = locked.path,
                       .first = first,
                       .count = count,
                       .configuration = configuration,
                       .where = where};
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
    const CrashWatch crash(configuration);
    SeedsTraining seeds(training, folder.path, configuration, std::move(tasks));
    SeedsReport found;
    try {
        found = seeds.run(true);
    } catch (...) {
        if (holds_run(folder.run_of(first))) throw;
        // Nothing has begun.
        remove_seeds(folder);
        std::error_code ignored;
        if (locked.made) fs::remove(folder.path, ignored);
        throw;
    }
    print_and_end(training, std::move(found));
}

void resume_seeds(Training& training, const fs::path& path, bool changed_source) {
    if (starts_ranks(training.ranks) || own_place(training.ranks).ranks > 1)
        throw Error("--ranks",
                    "is of one run, and " + path.string() + " holds those of several seeds",
                    "resume one of them, such as " + path.string() + "/seed-1");
    if (training.web.web)
        throw Error("--web",
                    "shows one run, and " + path.string() + " holds those of several seeds",
                    "resume one of them, such as " + path.string() + "/seed-1");
    if (training.until)
        throw Error("--until",
                    "pauses one run, and " + path.string() + " holds those of several seeds",
                    "resume one of them, such as " + path.string() + "/seed-1");
    if (!training.record.to.empty())
        throw Error("--record-to",
                    "names one file, and " + path.string() + " holds the runs of several seeds",
                    "without it each run records into its own folder");
    SeedsFolder folder = read_seeds(path);
    require_no_seed(training.options.assignments, path);
    const Descriptor lock = lock_directory(path);
    require_own_folder(path);
    std::vector<SeedTask> tasks;
    for (uint64_t seed = folder.first; seed < folder.first + folder.count; ++seed) {
        const fs::path out = folder.run_of(seed);
        const bool begun = holds_run(out);
        SeedTask task{.seed = seed,
                      .configuration = begun ? Json() : folder.configuration_of(seed),
                      .where = begun ? (out / "config.json").string() : folder.where,
                      .start = start_of(training, out),
                      .resumed = true};
        task.start.resume = begun;
        task.start.changed_source = changed_source;
        tasks.push_back(std::move(task));
    }
    for (const std::string& assignment : training.options.assignments)
        set_path(folder.configuration, assignment);
    const CrashWatch crash(folder.configuration);
    SeedsTraining seeds(training, path, folder.configuration, std::move(tasks));
    print_and_end(training, seeds.run(false));
}

}
