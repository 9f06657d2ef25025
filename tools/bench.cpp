#include "engine/base/error.h"
#include "engine/run/benchmark.h"
#include "engine/run/run.h"
#include "tools/commands.h"
#include "tools/options.h"

#include <cstdio>
#include <iostream>

namespace nacelle::tools {
namespace {

struct Bench {
    Options options;
    std::vector<std::string> environments;
    std::vector<uint32_t> counts;
    std::vector<std::string> kinds;
    BenchmarkSettings settings;
};

std::string rate(double value) {
    char text[32];
    const char* unit = "";
    for (const char* next : {" k", " M", " B", " T"})
        if (value >= 1000) {
            value /= 1000;
            unit = next;
        }
    std::snprintf(text, sizeof text, "%.3g%s", value, unit);
    return text;
}

void print(const BenchmarkRow& row, const RunsOn& on, const Options& options, bool first) {
    const DeviceInfo& device = on.device->info();
    if (options.json) {
        std::cout << Json{{"environment", row.environment},
                          {"kind", row.kind},
                          {"envs", row.envs},
                          {"agents", row.agents},
                          {"steps", row.steps},
                          {"steps_per_second", row.steps_per_second},
                          {"agent_steps_per_second", row.agents * row.steps_per_second},
                          {"slowest", row.slowest},
                          {"fastest", row.fastest},
                          {"seconds", row.seconds},
                          {"bytes_per_step", row.bytes_per_step},
                          {"gigabytes_per_second",
                           row.bytes_per_step * row.steps_per_second * 1e-9},
                          {"registers", row.registers},
                          {"local_bytes", row.local_bytes},
                          {"checksum", row.checksum},
                          {"backend", on.cuda() ? "cuda" : "cpu"},
                          {"device", device.name},
                          {"processors", device.processors},
                          {"driver", device.driver},
                          {"version", NACELLE_VERSION}}
                  << std::endl;
        return;
    }
    if (first) {
        std::printf("%s, %d %s%s\n", device.name.c_str(), device.processors,
                    on.cuda()                ? "multiprocessors"
                    : device.processors == 1 ? "thread"
                                             : "threads",
                    device.driver.empty() ? "" : (", " + device.driver).c_str());
        std::printf("%-22s %-8s %9s %6s %6s %12s %22s %13s %10s %8s %5s\n", "environment", "kind",
                    "envs", "agents", "steps", "steps/s", "slowest to fastest", "agent steps/s",
                    "bytes/step", "GB/s", "regs");
    }
    std::printf("%-22s %-8s %9u %6u %6u %12s %22s %13s %10.0f %8.0f %5d\n", row.environment.c_str(),
                row.kind.c_str(), row.envs, row.agents, row.steps,
                rate(row.steps_per_second).c_str(),
                (rate(row.slowest) + " to " + rate(row.fastest)).c_str(),
                rate(row.agents * row.steps_per_second).c_str(), row.bytes_per_step,
                row.bytes_per_step * row.steps_per_second * 1e-9, row.registers);
    std::fflush(stdout);
}

void run(Bench& bench) {
    const std::shared_ptr<RunsOn> on = open_for(bench.options);
    if (bench.counts.empty())
        bench.counts =
            on->cuda() ? std::vector<uint32_t>{4096, 65536, 1048576} : std::vector<uint32_t>{4096};
    if (bench.environments.empty()) bench.environments = {"cartpole"};
    Plugins plugins(plugin_folders(bench.options), on->cache, on->log);
    bool first = true;
    for (const std::string& name : bench.environments)
        for (const uint32_t count : bench.counts) {
            std::string where;
            Json resolved = resolve_configuration(sources_for(bench.options, name), where);
            resolved["env"]["count"] = count;
            const auto loaded = load_environment(on, plugins, resolved, where);
            Environment& env = *loaded;
            for (const std::string& kind : bench.kinds) {
                print(kind == "step" ? measure_steps(env, bench.settings)
                                     : measure_rollout(env, bench.settings),
                      *on, bench.options, first);
                first = false;
            }
        }
}

}

void add_bench(CLI::App& app) {
    auto bench = std::make_shared<Bench>();
    CLI::App* const command = app.add_subcommand(
        "bench", "Measure throughput: steps in a graph, and fused random rollouts");
    add_common_options(*command, bench->options);
    add_config_options(*command, bench->options, false);
    command->add_option("environments", bench->environments,
                        "Names in env_sources or paths; cartpole where none is given");
    command->add_option("--envs", bench->counts, "Numbers of environments, separated by commas")
        ->delimiter(',')
        ->check(CLI::Range(1u, most_envs));
    bench->kinds = {"step", "rollout"};
    command->add_option("--kind", bench->kinds, "step, rollout or both")
        ->delimiter(',')
        ->check(CLI::IsMember({"step", "rollout"}));
    command
        ->add_option("--rollout-steps", bench->settings.rollout_steps, "Steps of one fused rollout")
        ->check(CLI::Range(1, 100000))
        ->capture_default_str();
    command->add_option("--graph-steps", bench->settings.graph_steps, "Launches in one graph")
        ->check(CLI::Range(1, 10000))
        ->capture_default_str();
    command
        ->add_option("--repetitions", bench->settings.repetitions,
                     "Timed repetitions; the median is shown")
        ->check(CLI::Range(1, 10000))
        ->capture_default_str();
    command->callback([bench] { run(*bench); });
}

}
