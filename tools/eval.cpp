#include "engine/base/error.h"
#include "engine/run/choose_checkpoint.h"
#include "engine/run/directory.h"
#include "engine/run/run_recording.h"
#include "engine/run/trainee.h"
#include "tools/acting.h"
#include "tools/commands.h"
#include "tools/crash_watch.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/progress_line.h"
#include "tools/recording_options.h"

#include <cstdio>

namespace nacelle::tools {
namespace {

struct Eval {
    Options options;
    std::filesystem::path run;
    std::string checkpoint = "best";
    uint64_t episodes = 1000;
    bool sampled = false, changed_source = false;
    RecordOptions record;
};

// Creates the recording, if one is wanted.
std::optional<RunRecording> begin_recording(const Eval& eval, Environment& env) {
    if (!eval.record.wanted()) return std::nullopt;
    const RecordSettings settings = eval.record.settings();
    const uint64_t played = std::min<uint64_t>(eval.episodes, env.count());
    if (settings.environments.back() >= played)
        throw Error("--record",
                    "environment " + std::to_string(settings.environments.back()) +
                        " plays no episode",
                    std::to_string(eval.episodes) + " episodes are played by environments 0 to " +
                        std::to_string(played - 1));
    const std::filesystem::path own = eval.run / "recordings" / "eval.recording";
    return RunRecording(settings, eval.record.to.empty() ? free_path(own) : eval.record.to);
}

void run(const Eval& eval) {
    run_configuration(eval.run);    // where there is no run, nobody waits for a device
    const std::shared_ptr<RunsOn> on = open_for_learner(eval.options);
    std::optional<CrashWatch> crash;
    Plugins plugins(plugin_folders(eval.options), on->cache, on->log);
    const Checkpoint checkpoint = choose_checkpoint(eval.run, eval.checkpoint, on->log);
    std::optional<Trainee> made;
    with_configuration(acting_configuration(eval.run, eval.options.assignments, on->cuda()),
                       [&](const Json& configuration, const std::string& where) {
                           crash.emplace(configuration);
                           made.emplace(begin_environment(on, plugins, configuration, where),
                                        plugins, configuration, where);
                       });
    Trainee& trainee = *made;
    trainee.load_to_act(checkpoint, eval.changed_source);
    const uint64_t seed =
        eval.options.seed ? uint64_t(*eval.options.seed) : trainee.environment().settings().seed;
    const uint64_t steps = checkpoint.record.steps;
    std::optional<RunRecording> recording = begin_recording(eval, trainee.environment());
    const Evaluation found = trainee.evaluate(
        {.episodes = eval.episodes,
         .seed = evaluation_seed(seed, EvaluationPurpose::asked_for),
         .greedy = !eval.sampled,
         .logs = true,
         .recorder = recording ? &recording->recorder(trainee.environment()) : nullptr,
         .trained = steps});
    if (recording) recording->finish();
    if (eval.options.json) {
        Json result = {{"kind", "evaluation"},
                       {"checkpoint", checkpoint.where},
                       {"steps", steps},
                       {"seed", seed},
                       {"sampled", eval.sampled}};
        add_evaluation(found, result);
        if (recording) result["recording"] = recording->files().front().string();
        print_json(result);
        return;
    }
    std::printf("%s at step %llu, %s: %s\n", trainee.environment().name().c_str(),
                static_cast<unsigned long long>(steps), eval.sampled ? "sampled" : "greedy",
                evaluation_text(found).c_str());
    if (recording) std::printf("recorded in %s\n", recording->files().front().c_str());
}

}

void add_eval(CommandLine& line) {
    auto eval = std::make_shared<Eval>();
    Command command = line.add("eval", "Evaluate the policy of a run");
    add_run_options(command, eval->options, eval->run);
    add_assignments(command, eval->options);
    command
        .option("--seed", eval->options.seed,
                "Seed of the episodes, which are never those of training; the run's own where "
                "none is given")
        .between(int64_t(0), int64_t(1) << 53);
    command.option("--episodes", eval->episodes, "Whole episodes that are played")
        .between(1, 10000000)
        .shows_default();
    command
        .option("--checkpoint", eval->checkpoint,
                "best (the latest where none is), latest, or a number of steps")
        .shows_default();
    command.flag("--sampled", eval->sampled,
                 "Draw the actions as training does; else the most likely ones");
    command.flag("--changed-source", eval->changed_source,
                 "Evaluate though the environment's files have changed");
    add_record_options(command, eval->record, "the first episode", "RUN/recordings/eval.recording");
    command.run([eval] { run(*eval); });
}

}
