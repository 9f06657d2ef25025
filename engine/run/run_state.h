#pragma once
#include <filesystem>
#include <string>

namespace nacelle {

// What a run's state.json holds: what no checkpoint may have, since the same run writes the same checkpoints.
struct RunState {
    double seconds = 0;          // of training up to the newest checkpoint, over all processes
    std::string failure = {};    // why the run failed; empty where it did not
};

std::filesystem::path state_file_of(const std::filesystem::path& run);
// The state of a run; the default where there is no such file, or a damaged one.
RunState read_run_state(const std::filesystem::path& run);
// Does not wait for the disk: without the file a run starts to count again.
void write_run_state(const std::filesystem::path& run, const RunState& state);

}
