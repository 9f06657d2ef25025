#pragma once
#include "engine/run/configuration.h"
#include "engine/watch/session.h"
#include "tools/options.h"
#include "tools/recording_options.h"
#include "tools/web.h"

namespace nacelle::tools {

// What the command line said.
struct Watch {
    Options options;
    WebOptions web;
    RecordOptions record;
    WatchSettings settings;
    std::string environment;
    std::filesystem::path policy;
    std::vector<std::string> arrays;
    uint32_t count = 16, which = 0, agent = 0;
    double timeout = 10;
    int inside = -1;    // the channel, in the process that steps
};

// With a policy everything is as in its run, except the environment's file.
ResolvedConfiguration configuration_of(const Watch& watch, bool on_gpu);
// ENV.json beside the source, settings that were named in place of an environment, and what --config names.
std::vector<std::filesystem::path> settings_files(const Watch& watch,
                                                  const std::filesystem::path& source);
// Starts this program again for the process that steps.
std::vector<std::string> inner_command(const Watch& watch);
// What that process does: it runs an author's code for its parent, which reports the result.
void run_inside(const Watch& watch);

}
