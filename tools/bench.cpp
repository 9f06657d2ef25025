#include "engine/base/number_text.h"
#include "engine/run/benchmark.h"
#include "tools/bench_output.h"
#include "tools/bench_ranks.h"
#include "tools/bench_training.h"
#include "tools/commands.h"
#include "tools/crash_watch.h"
#include "tools/output.h"
#include "tools/ranks.h"
#include "tools/units.h"

#include <cstdio>

namespace nacelle::tools {
namespace {

struct Bench {
    Options options;
    std::vector<std::string> environments;
    std::vector<uint32_t> counts, ranks;
    std::vector<std::string> kinds;
    BenchmarkSettings settings;
    bool train = false;
};

void print(const BenchmarkRow& row, RunsOn& on, const Options& options, bool first) {
    const double rate = row.rate.median;
    if (options.json) {
        Json line = {{"environment", row.environment},
                     {"kind", row.kind},
                     {"envs", row.envs},
                     {"agents", row.agents},
                     {"steps", row.steps},
                     {"agent_steps_per_second", row.agents * rate},
                     {"seconds", row.seconds},
                     {"bytes_per_step", row.bytes_per_step},
                     {"gigabytes_per_second", row.bytes_per_step * rate * 1e-9},
                     {"registers", row.registers},
                     {"local_bytes", row.local_bytes},
                     {"checksum", row.checksum}};
        add_spread(row.rate, line);
        add_machine(on, line);
        print_json(line);
        return;
    }
    if (first) {
        print_machine(on);
        std::printf("%-22s %-8s %9s %6s %6s %12s %22s %13s %10s %8s %5s\n", "environment", "kind",
                    "envs", "agents", "steps", "steps/s", "slowest to fastest", "agent steps/s",
                    "bytes/step", "GB/s", "regs");
    }
    std::printf("%-22s %-8s %9u %6u %6u %12s %22s %13s %10.0f %8.0f %5d\n", row.environment.c_str(),
                row.kind.c_str(), row.envs, row.agents, row.steps, count_text(rate).c_str(),
                range_text(row.rate).c_str(), count_text(row.agents * rate).c_str(),
                row.bytes_per_step, row.bytes_per_step * rate * 1e-9, row.registers);
    std::fflush(stdout);
}

// As for 'train', a configuration file may follow the environments.
void take_configuration(Bench& bench) {
    std::vector<std::string> names;
    for (const std::string& word : bench.environments) {
        if (!word.ends_with(".json")) {
            names.push_back(word);
            continue;
        }
        if (!bench.options.config.empty())
            throw UsageError("bench: one configuration at a time, not " +
                             bench.options.config.string() + " and " + word);
        bench.options.config = word;
    }
    bench.environments = names;
}

void measure(const Bench& bench, Environment& env, bool& first) {
    for (const std::string& kind : bench.kinds) {
        print(kind == "step" ? measure_steps(env, bench.settings)
                             : measure_rollout(env, bench.settings),
              env.on(), bench.options, first);
        first = false;
    }
}

void run_environments(Bench& bench) {
    refuse_set_count(bench.options, "a bench has numbers of its own", "--envs N,...");
    const std::shared_ptr<RunsOn> on = open_for(bench.options);
    if (bench.counts.empty())
        bench.counts =
            on->cuda() ? std::vector<uint32_t>{4096, 65536, 1048576} : std::vector<uint32_t>{4096};
    if (bench.environments.empty())
        bench.environments = {bench.options.config.empty() ? "cartpole" : ""};
    Plugins plugins(plugin_folders(bench.options), on->cache, on->log);
    bool first = true;
    for (const std::string& name : bench.environments) {
        const ResolvedConfiguration resolved =
            resolve_configuration(sources_for(bench.options, name));
        const CrashWatch crash(resolved.json);
        for (const uint32_t count : bench.counts)
            with_configuration(resolved, [&](Json configuration, const std::string& where) {
                configuration["env"]["count"] = count;
                measure(bench, *load_environment(on, plugins, configuration, where), first);
            });
    }
}

}

void add_bench(CommandLine& line) {
    auto bench = std::make_shared<Bench>();
    Command command = line.add(
        "bench", "Measure throughput: steps in a graph, fused random rollouts, and training");
    add_common_options(command, bench->options);
    add_config_options(command, bench->options, false);
    command.option("environments", bench->environments,
                   "Names or paths, and a configuration (.json); where none is "
                   "given, cartpole, and for --train a standard table");
    const Option train = command.flag("--train", bench->train,
                                      "Measure training by the configuration of each environment");
    command
        .option("--envs", bench->counts,
                "Numbers of environments, separated by commas; for --train what the "
                "configuration says where none is given")
        .list()
        .between(1u, most_envs);
    command
        .option(
            "--ranks", bench->ranks,
            "Numbers of processes that train together, each on a GPU of its own where there are "
            "GPUs, separated by commas: how the rates grow")
        .list()
        .between(1u, 1024u)
        .needs(train);
    bench->kinds = {"step", "rollout"};
    command.option("--kind", bench->kinds, "step, rollout or both")
        .list()
        .one_of({"step", "rollout"})
        .excludes(train);
    command.option("--rollout-steps", bench->settings.rollout_steps, "Steps of one fused rollout")
        .between(1, 100000)
        .shows_default()
        .excludes(train);
    command.option("--graph-steps", bench->settings.graph_steps, "Launches in one graph")
        .between(1, 10000)
        .shows_default()
        .excludes(train);
    command
        .option("--repetitions", bench->settings.repetitions,
                "Timed repetitions; the median is shown")
        .between(1, 10000)
        .shows_default();
    command.run([bench] {
        take_configuration(*bench);
        if (!bench->train) return run_environments(*bench);
        if (!bench->ranks.empty() && !is_rank())
            return bench_ranks(bench->ranks, bench->options.json);
        run(TrainingBench{.options = bench->options,
                          .environments = bench->environments,
                          .counts = bench->counts,
                          .measure = {.repetitions = bench->settings.repetitions}});
    });
}

}
