#include "engine/run/choose_checkpoint.h"

#include "engine/base/error.h"

#include <charconv>

namespace nacelle {
namespace {

Checkpoint newest_of(const Checkpoints& checkpoints, const std::filesystem::path& run,
                     const Log& log) {
    const auto found = checkpoints.newest([&](const std::string& why) {
        log.write(LogLevel::warning, why + "; an earlier checkpoint is taken");
    });
    if (!found)
        throw Error(run.string(), "has no checkpoint yet", "'nacelle resume' goes on with the run");
    return *found;
}

}

Checkpoint choose_checkpoint(const std::filesystem::path& run, const std::string& name,
                             const Log& log) {
    const Checkpoints checkpoints(run / "checkpoints");
    if (name == "latest") return newest_of(checkpoints, run, log);
    if (name == "best") {
        if (std::filesystem::exists(checkpoints.best()))
            return Checkpoints::read(checkpoints.best());
        return newest_of(checkpoints, run, log);
    }
    uint64_t steps = 0;
    const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), steps);
    std::string there = "there is: best, latest";
    for (const CheckpointFile& one : checkpoints.list()) {
        if (wrong == std::errc() && end == name.data() + name.size() && one.steps == steps)
            return Checkpoints::read(one.path);
        there += ", " + std::to_string(one.steps);
    }
    throw Error(run.string(), "has no checkpoint '" + name + "'", there);
}

}
