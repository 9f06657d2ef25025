#pragma once
#include "engine/recording/recorder.h"
#include "tools/command_line.h"

namespace nacelle::tools {

// --record and related options.
struct RecordOptions {
    uint32_t first = 0;    // environments 0 to first - 1
    std::vector<uint32_t> environments;
    std::vector<std::string> arrays;
    std::filesystem::path to;

    bool wanted() const { return first > 0 || !environments.empty(); }
    // The settings, environments in rising order. Throws where one is named twice.
    RecordSettings settings() const;
    // Also throws where an environment is not below `envs`.
    RecordSettings settings(uint32_t envs) const;
};

// `what`: what is recorded of an environment, "the first episode" or the like; `where`: the default file. `options`
// must live as long as the command.
void add_record_options(Command command, RecordOptions& options, const std::string& what,
                        const std::string& where);

}
