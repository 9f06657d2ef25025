#pragma once
#include "engine/recording/recorder.h"
#include "tools/command_line.h"

namespace nacelle::tools {

// --record and what goes with it.
struct RecordOptions {
    uint32_t first = 0;    // environments 0 to first - 1
    std::vector<uint32_t> environments;
    std::vector<std::string> arrays;
    std::filesystem::path to;

    bool wanted() const { return first > 0 || !environments.empty(); }
    // The environments in rising order. Throws where one is named twice.
    RecordSettings settings() const;
    // Throws, too, where one is not among `envs`.
    RecordSettings settings(uint32_t envs) const;
};

// `what`: what of an environment is kept, "the first episode" or the like; `where`: the file where none is
// named. `options` must live as long as the command.
void add_record_options(Command command, RecordOptions& options, const std::string& what,
                        const std::string& where);

}
