#include "tools/bench_training.h"

#include "engine/base/error.h"
#include "engine/base/number_text.h"
#include "tools/bench_output.h"
#include "tools/count_trials.h"
#include "tools/crash_watch.h"
#include "tools/learner_text.h"
#include "tools/output.h"
#include "tools/ranks.h"
#include "tools/standard_trainings.h"
#include "tools/units.h"

#include <cstdio>

namespace nacelle::tools {
namespace {

ResolvedConfiguration standard_case(const StandardTraining& training, const Options& options) {
    ConfigurationSources sources = quiet_where(true, sources_for(options, training.environment));
    const std::vector<std::string> assignments = std::move(sources.assignments);
    sources.assignments.clear();
    sources.env_folders = env_folders();    // a file of this name that lies here is another one
    Json configuration = resolve_configuration(sources).json;
    // Recommended settings in ENV.json may change; the table must not.
    configuration = {{"env", {{"source", configuration["env"]["source"]}}}};
    merge_json(configuration, training.settings);
    return changed_configuration(std::move(configuration), "standard table", assignments);
}

std::vector<ResolvedConfiguration> standard_cases(const TrainingBench& bench, bool cuda) {
    std::vector<ResolvedConfiguration> cases;
    for (const StandardTraining& training : standard_trainings(cuda))
        cases.push_back(standard_case(training, bench.options));
    return cases;
}

std::vector<ResolvedConfiguration> cases_of(const TrainingBench& bench, bool cuda) {
    if (!bench.counts.empty())
        refuse_set_count(bench.options, "--envs says how many there are", "one of both");
    std::vector<std::string> names = bench.environments;
    if (names.empty() && bench.options.config.empty()) {
        if (!bench.counts.empty())
            throw Error("bench", "the standard table has its own numbers of environments",
                        "name an environment, or leave --envs out");
        return standard_cases(bench, cuda);
    }
    if (names.empty()) names.push_back("");    // the file says it
    std::vector<ResolvedConfiguration> cases;
    for (const std::string& name : names) {
        ResolvedConfiguration one = resolve_configuration(sources_for(bench.options, name));
        if (bench.counts.empty()) cases.push_back(one);
        for (const uint32_t count : bench.counts) {
            one.json["env"]["count"] = count;
            cases.push_back(one);
        }
    }
    return cases;
}

void print_heading(RunsOn& on) {
    print_machine(on);
    std::printf("%-15s %7s %6s %6s %10s %20s %10s %10s %13s %7s  %s\n", "environment", "envs",
                "agents", "steps", "steps/s", "slowest to fastest", "rollout/s", "update/s",
                "agent steps/s", "TFLOP/s", "configuration");
}

void print_row(const TrainingRow& row, RunsOn& on, bool json) {
    if (json) {
        Json line = {{"environment", row.environment},
                     {"kind", "train"},
                     {"configuration", learner_text(row.settings)},
                     {"envs", row.envs},
                     {"agents", row.agents},
                     {"steps", row.steps},
                     {"agent_steps_per_second", row.agents * row.whole.median},
                     {"iterations", row.iterations},
                     {"repetitions", row.repetitions},
                     {"seconds", row.seconds},
                     {"settings", row.settings}};
        add_spread(row.whole, line);
        if (row.rollout) add_spread(*row.rollout, line["rollout"]);
        if (row.update) add_spread(*row.update, line["update"]);
        if (row.updates) line["updates"] = *row.updates;
        if (row.teraflops) line["update"]["teraflops"] = *row.teraflops;
        add_machine(on, line);
        print_json(line);
        return;
    }
    const auto part = [](const std::optional<Spread>& spread) {
        return spread ? count_text(spread->median) : "-";
    };
    const std::string teraflops = row.teraflops ? rounded(*row.teraflops, 3) : "-";
    std::printf("%-15s %7u %6u %6llu %10s %20s %10s %10s %13s %7s  %s\n", row.environment.c_str(),
                row.envs, row.agents, static_cast<unsigned long long>(row.steps),
                count_text(row.whole.median).c_str(), range_text(row.whole).c_str(),
                part(row.rollout).c_str(), part(row.update).c_str(),
                count_text(row.agents * row.whole.median).c_str(), teraflops.c_str(),
                learner_text(row.settings).c_str());
    std::fflush(stdout);
}

void print_refusal(const Json& configuration, const Error& error, RunsOn& on, bool json) {
    const Json& env = configuration["env"];
    const std::string name =
        std::filesystem::path(env["source"].get<std::string>()).stem().string();
    if (json) {
        Json line = {{"environment", name},
                     {"kind", "train"},
                     {"configuration", learner_text(configuration)},
                     {"refused", error.what()}};
        if (env.contains("count")) line["envs"] = env["count"];
        add_machine(on, line);
        print_json(line);
        return;
    }
    std::printf("%-15s %7s refused: %s (%s)\n", name.c_str(),
                json_text(env.value("count", Json())).c_str(), error.what(),
                learner_text(configuration).c_str());
    std::fflush(stdout);
}

}

void run(const TrainingBench& bench) {
    const Options& options = bench.options;
    const RankPlace place = own_place(0);
    const std::shared_ptr<RunsOn> on = open_for_learner(options, place);
    const std::vector<ResolvedConfiguration> cases = cases_of(bench, on->cuda());
    Plugins plugins(plugin_folders(options), on->cache, on->log);
    size_t refused = 0;
    for (size_t i = 0; i < cases.size(); ++i) {
        const auto heading = [&] {
            if (i == 0 && place.rank == 0 && !options.json) print_heading(*on);
        };
        const CrashWatch crash(cases[i].json);
        try {
            with_configuration(cases[i], [&](const Json& configuration, const std::string& where) {
                if (!on->ranks) join_ranks(*on, plugins, place, configuration, where);
                Json chosen = configuration;
                find_count(on, plugins, chosen, where, options.json, place.rank > 0);
                const TrainingRow row = measure_training(on, plugins, chosen, where, bench.measure);
                heading();
                if (place.rank == 0) print_row(row, *on, options.json);
            });
        } catch (const Error& error) {
            if (cases.size() == 1) throw;
            heading();
            if (place.rank == 0) print_refusal(cases[i].json, error, *on, options.json);
            ++refused;
        }
    }
    if (refused == cases.size()) throw EndWith{1};
}

}
