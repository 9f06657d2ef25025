#include "tools/count_trials.h"

#include "engine/base/error.h"
#include "engine/base/number_text.h"
#include "engine/base/text.h"
#include "tools/output.h"
#include "tools/units.h"

#include <cstdio>

namespace nacelle::tools {

std::optional<ChosenCount> find_count(const std::shared_ptr<RunsOn>& on, Plugins& plugins,
                                      Json& configuration, const std::string& where, bool json,
                                      bool quiet) {
    if (!is_auto_count(configuration)) return std::nullopt;
    if (on->ranks)
        throw Error("env.count", "\"auto\" is found out by one process, and several ranks train",
                    "try it with one rank, then give each its number");
    if (const int64_t meant =
            Config(configuration, where).object("run").integer("ranks", 1, 1, 1 << 16);
        meant > 1)
        throw Error("env.count",
                    "\"auto\" is found out for one process, and run.ranks says that the number is "
                    "for each of " +
                        std::to_string(meant) + " ranks",
                    "leave run.ranks out, or give each rank its number");
    const bool table = !json && !quiet;
    if (table) std::printf("%12s %12s\n", "environments", "steps/s");
    const ChosenCount chosen =
        choose_count(on, plugins, configuration, where, {}, [&](const CountTrial& trial) {
            if (!table) return;
            std::printf("%12u %12s\n", trial.envs,
                        trial.fault.empty() ? count_text(trial.rate).c_str() : "-");
            std::fflush(stdout);
        });
    configuration["env"]["count"] = chosen.envs;
    if (table)
        std::printf("env.count is %u: %s (%s s)\n", chosen.envs, printable(chosen.reason).c_str(),
                    rounded(chosen.seconds, 3).c_str());
    if (json && !quiet) {
        Json line = count_json(chosen);
        line["kind"] = "count";
        print_json(line);
    }
    return chosen;
}

}
