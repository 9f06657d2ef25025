#include "tools/recording_options.h"

#include "engine/base/error.h"
#include "tools/options.h"

#include <algorithm>
#include <numeric>

namespace nacelle::tools {

RecordSettings RecordOptions::settings() const {
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

void add_record_options(CLI::App& command, RecordOptions& options, const std::string& what,
                        const std::string& where) {
    CLI::Option* const first =
        command
            .add_option("--record", options.first,
                        "Keep " + what +
                            " of each of the first N environments in a file, for "
                            "'nacelle play'")
            ->type_name("N")
            ->check(CLI::Range(1u, 1u << 20));
    command
        .add_option("--record-envs", options.environments,
                    "In place of --record: these environments, as 0,7,12")
        ->type_name("I,...")
        ->delimiter(',')
        ->check(CLI::Range(0u, most_envs - 1))
        ->excludes(first);
    command
        .add_option("--record-arrays", options.arrays,
                    "Only these arrays, as state,obs,reward; all of them where none is named")
        ->type_name("NAME,...")
        ->delimiter(',');
    command.parse_complete_callback([&options] {
        if (options.wanted()) return;
        if (!options.arrays.empty()) throw CLI::RequiresError("--record-arrays", "--record");
        if (!options.to.empty()) throw CLI::RequiresError("--record-to", "--record");
    });
    command.add_option("--record-to", options.to, "The file; " + where + " where none is named");
}

}
