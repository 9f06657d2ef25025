#include "tools/recording_options.h"

#include "engine/base/error.h"
#include "tools/options.h"
#include "tools/play_export.h"

#include <algorithm>
#include <numeric>

namespace nacelle::tools {

RecordSettings RecordOptions::settings() const {
    if (const std::string ending = exported_ending(to); !ending.empty())
        throw Error("--record-to", "'" + to.string() + "' would be a recording, and no ." + ending,
                    "name x.recording, then 'nacelle play x.recording --out x." + ending + "'");
    RecordSettings settings{.environments = environments, .arrays = arrays};
    std::vector<uint32_t>& all = settings.environments;
    if (first > 0) {
        all.resize(first);
        std::iota(all.begin(), all.end(), 0);
    }
    std::sort(all.begin(), all.end());
    if (const auto twice = std::adjacent_find(all.begin(), all.end()); twice != all.end())
        throw Error("--record-envs", "names environment " + std::to_string(*twice) + " twice");
    return settings;
}

RecordSettings RecordOptions::settings(uint32_t envs) const {
    RecordSettings chosen = settings();
    require_environment(first > 0 ? "--record" : "--record-envs", chosen.environments.back(), envs);
    return chosen;
}

void add_record_options(Command command, RecordOptions& options, const std::string& what,
                        const std::string& where) {
    const Option first = command
                             .option("--record", options.first,
                                     "Keep " + what +
                                         " of each of the first N environments in a file, for "
                                         "'nacelle play'")
                             .value_name("N")
                             .between(1u, 1u << 20);
    command
        .option("--record-envs", options.environments,
                "In place of --record: these environments, as 0,7,12")
        .value_name("I,...")
        .list()
        .between(0u, most_envs - 1)
        .excludes(first);
    command
        .option("--record-arrays", options.arrays,
                "Only these arrays, as state,obs,reward; all of them where none is named")
        .value_name("NAME,...")
        .list();
    command.check([&options] {
        if (options.wanted()) return;
        if (!options.arrays.empty()) throw UsageError("--record-arrays requires --record");
        if (!options.to.empty()) throw UsageError("--record-to requires --record");
    });
    command.option("--record-to", options.to, "The file; " + where + " where none is named");
}

}
