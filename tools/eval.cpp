#include "engine/base/error.h"
#include "engine/run/directory.h"
#include "engine/run/trainee.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/progress_line.h"

#include <charconv>
#include <cstdio>
#include <iostream>

namespace nacelle::tools {
namespace {

struct Eval {
    Options options;
    std::filesystem::path run;
    std::string checkpoint = "best";
    uint64_t episodes = 1000;
    bool sampled = false, changed_source = false;
};

Checkpoint newest(const Checkpoints& checkpoints, const Eval& eval, const Log& log) {
    const auto found = checkpoints.newest([&](const std::string& why) {
        log.write(LogLevel::warning, why + "; an earlier checkpoint is taken");
    });
    if (!found)
        throw Error(eval.run.string(), "has no checkpoint yet",
                    "'nacelle resume' goes on with the run");
    return *found;
}

Checkpoint chosen(const Eval& eval, const Log& log) {
    const Checkpoints checkpoints(eval.run / "checkpoints");
    const std::string& name = eval.checkpoint;
    if (name == "latest") return newest(checkpoints, eval, log);
    if (name == "best") {
        if (std::filesystem::exists(checkpoints.best()))
            return Checkpoints::read(checkpoints.best());
        return newest(checkpoints, eval, log);
    }
    uint64_t steps = 0;
    const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), steps);
    std::string there = "there is: best, latest";
    for (const CheckpointFile& one : checkpoints.list()) {
        if (wrong == std::errc() && end == name.data() + name.size() && one.steps == steps)
            return Checkpoints::read(one.path);
        there += ", " + std::to_string(one.steps);
    }
    throw Error(eval.run.string(), "has no checkpoint '" + name + "'", there);
}

void run(const Eval& eval) {
    const std::string where = (eval.run / "config.json").string();
    const Json configuration = run_configuration(eval.run);
    const std::shared_ptr<RunsOn> on = open_for(eval.options);
    Plugins plugins(plugin_folders(eval.options), on->cache, on->log);
    const Checkpoint checkpoint = chosen(eval, on->log);
    Trainee trainee(load_environment(on, plugins, configuration, where), plugins, configuration,
                    where);
    trainee.load(checkpoint, eval.changed_source);
    const uint64_t seed =
        eval.options.seed ? uint64_t(*eval.options.seed) : trainee.environment().settings().seed;
    const Evaluation found =
        trainee.evaluate({.episodes = eval.episodes,
                          .seed = evaluation_seed(seed, EvaluationPurpose::asked_for),
                          .greedy = !eval.sampled});
    const uint64_t steps = checkpoint.record.steps;
    if (eval.options.json) {
        Json result = {{"kind", "evaluation"},
                       {"checkpoint", checkpoint.where},
                       {"steps", steps},
                       {"seed", seed},
                       {"sampled", eval.sampled}};
        add_evaluation(found, result);
        std::cout << result << std::endl;
        return;
    }
    std::printf("%s at step %llu, %s: %s\n", trainee.environment().name().c_str(),
                static_cast<unsigned long long>(steps), eval.sampled ? "sampled" : "greedy",
                evaluation_text(found).c_str());
}

}

void add_eval(CLI::App& app) {
    auto eval = std::make_shared<Eval>();
    CLI::App* const command = app.add_subcommand("eval", "Evaluate the policy of a run");
    add_run_options(*command, eval->options, eval->run);
    command
        ->add_option("--seed", eval->options.seed,
                     "Seed of the episodes, which are never those of training; the run's own where "
                     "none is given")
        ->check(CLI::Range(int64_t(0), int64_t(1) << 53));
    command->add_option("--episodes", eval->episodes, "Whole episodes that are played")
        ->check(CLI::Range(1, 10000000))
        ->capture_default_str();
    command
        ->add_option("--checkpoint", eval->checkpoint,
                     "best (the latest where none is), latest, or a number of steps")
        ->capture_default_str();
    command->add_flag("--sampled", eval->sampled,
                      "Draw the actions as training does; else the most likely ones");
    command->add_flag("--changed-source", eval->changed_source,
                      "Though the environment's files have changed");
    command->callback([eval] { run(*eval); });
}

}
