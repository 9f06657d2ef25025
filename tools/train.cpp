#include "engine/base/error.h"
#include "engine/run/run.h"
#include "tools/commands.h"
#include "tools/options.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <unistd.h>

namespace nacelle::tools {
namespace {

struct Train {
    Options options;
    std::string environment;
    std::filesystem::path out;
    uint64_t episodes = 1000;
};

volatile std::sig_atomic_t interrupted = 0;

// runs/cartpole-1, runs/cartpole-2, ...
std::filesystem::path next_directory(const std::string& name) {
    for (int i = 1;; ++i) {
        const std::filesystem::path path =
            std::filesystem::path("runs") / (name + "-" + std::to_string(i));
        if (!std::filesystem::exists(path)) return path;
    }
}

double metric(const Progress& progress, const std::string& name) {
    for (const auto& [key, value] : progress.metrics)
        if (key == name) return value;
    return 0;
}

Json as_json(const Progress& progress) {
    Json line = {{"kind", "progress"},
                 {"iteration", progress.iteration},
                 {"step", progress.steps},
                 {"total_steps", progress.total_steps}};
    for (const auto& [name, value] : progress.metrics) line[name] = value;
    return line;
}

// The mean return, or that of each policy where there are several.
std::string returns_text(const Progress& progress) {
    constexpr std::string_view begin = "policy.", end = ".return";
    std::string text;
    char number[64];
    for (const auto& [name, value] : progress.metrics) {
        if (!name.starts_with(begin) || !name.ends_with(end)) continue;
        std::snprintf(number, sizeof number, " %.1f", value);
        text += (text.empty() ? "" : ", ") +
                name.substr(begin.size(), name.size() - begin.size() - end.size()) + number;
    }
    if (!text.empty()) return "returns: " + text + " ";
    std::snprintf(number, sizeof number, "return %.1f", metric(progress, "episode.return"));
    return number;
}

void show(const Progress& progress, const Options& options, bool terminal) {
    if (options.json) {
        std::cout << as_json(progress) << std::endl;
        return;
    }
    std::printf("%s%5.1f %%  %10llu steps  %6.1f M steps/s  %s  policy %.1f%s",
                terminal ? "\r\033[K" : "",
                std::min(100.0, 100.0 * double(progress.steps) / double(progress.total_steps)),
                static_cast<unsigned long long>(progress.steps), progress.steps_per_second * 1e-6,
                returns_text(progress).c_str(), metric(progress, "evaluation.return"),
                terminal ? "" : "\n");
    std::fflush(stdout);
}

void run(Train& train) {
    const auto start = std::chrono::steady_clock::now();
    const auto passed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    std::string where;
    const Json configuration =
        resolve_configuration(sources_for(train.options, train.environment), where);
    const std::shared_ptr<RunsOn> on = open_for(train.options);
    Plugins plugins(plugin_folders(train.options), on->cache, on->log);
    const double opened = passed();
    if (train.out.empty())
        train.out = next_directory(
            std::filesystem::path(configuration["env"]["source"].get<std::string>()).stem());
    const auto loading = std::chrono::steady_clock::now();
    TrainingRun run(load_environment(on, plugins, configuration, where), plugins, configuration,
                    where, train.out);
    const double loaded =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - loading).count();
    const bool terminal = !train.options.json && isatty(STDOUT_FILENO);
    if (!train.options.json)
        std::printf("%s on %s (%s), %u environments\n", run.environment().name().c_str(),
                    on->cuda() ? "the GPU" : "the CPU", on->why.c_str(), run.environment().count());
    std::signal(SIGINT, [](int) { interrupted = 1; });
    bool more = true;
    while (more && !interrupted) {
        more = run.iterate();
        show(run.progress(), train.options, terminal);
    }
    if (terminal) std::printf("\n");
    const Evaluation found = run.evaluate(train.episodes);
    run.finish();
    const bool several = found.policies.size() > 1;
    Json policies = Json::object();
    for (const Evaluation::Policy& policy : found.policies)
        policies[policy.name] = {{"mean_return", policy.mean_return},
                                 {"return_interval", policy.return_interval}};
    if (train.options.json) {
        Json result = Json{{"kind", "result"},
                           {"solved", run.solved()},
                           {"interrupted", interrupted != 0},
                           {"steps", run.progress().steps},
                           {"episodes", found.episodes},
                           {"mean_return", found.mean_return},
                           {"return_interval", found.return_interval},
                           {"mean_length", found.mean_length},
                           {"length_interval", found.length_interval},
                           {"seconds", passed()},
                           {"start_seconds", opened},
                           {"compile_seconds", loaded},
                           {"train_seconds", run.train_seconds()},
                           {"backend", on->cuda() ? "cuda" : "cpu"},
                           {"out", run.out().string()}};
        if (several) result["policies"] = policies;
        std::cout << result << std::endl;
        return;
    }
    std::printf("%s after %llu steps: return %.1f ± %.1f, length %.1f ± %.1f over %llu episodes "
                "(95 %% intervals)\n",
                run.solved()  ? "Solved"
                : interrupted ? "Interrupted"
                              : "Ended",
                static_cast<unsigned long long>(run.progress().steps), found.mean_return,
                found.return_interval, found.mean_length, found.length_interval,
                static_cast<unsigned long long>(found.episodes));
    for (const Evaluation::Policy& policy : found.policies)
        if (several)
            std::printf("  %-20s return %.1f ± %.1f for an agent\n", policy.name.c_str(),
                        policy.mean_return, policy.return_interval);
    std::printf("%.2f s in all: start %.2f, compile and load %.2f, train %.2f; results in %s\n",
                passed(), opened, loaded, run.train_seconds(), run.out().string().c_str());
}

}

void add_train(CLI::App& app) {
    auto train = std::make_shared<Train>();
    CLI::App* const command = app.add_subcommand("train", "Train a policy");
    add_common_options(*command, train->options);
    command
        ->add_option("environment", train->environment, "A name in env_sources, or a path to a .cu")
        ->required();
    add_config_options(*command, train->options, true);
    command->add_option("--out", train->out,
                        "Directory of the run; runs/NAME-1, -2, ... where none is given");
    command->add_option("--episodes", train->episodes, "Episodes of the evaluation at the end")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    command->callback([train] { run(*train); });
}

}
