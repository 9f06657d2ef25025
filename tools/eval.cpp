#include "engine/base/error.h"
#include "engine/export/policy_file.h"
#include "engine/match/policy_actor.h"
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

#include <algorithm>
#include <cstdio>

namespace nacelle::tools {
namespace {

struct Eval {
    Options options;
    std::filesystem::path run;    // or, with policies, an environment
    std::vector<std::filesystem::path> policies;
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
    const std::filesystem::path name = "eval.recording",
                                own = holds_run(eval.run) ? eval.run / "recordings" / name : name;
    return RunRecording(settings, eval.record.to.empty() ? free_path(own) : eval.record.to);
}

// What was evaluated, and where.
struct Evaluated {
    std::string where;    // of the checkpoint or the files
    uint64_t steps = 0;
    Environment& env;
};

void report(const Eval& eval, const Evaluated& evaluated, uint64_t seed, const Evaluation& found,
            const std::optional<RunRecording>& recording) {
    if (eval.options.json) {
        Json result = {{"kind", "evaluation"},
                       {eval.policies.empty() ? "checkpoint" : "policy", evaluated.where},
                       {"steps", evaluated.steps},
                       {"seed", seed},
                       {"sampled", eval.sampled}};
        add_evaluation(found, result);
        if (recording) result["recording"] = recording->files().front().string();
        print_json(result);
        return;
    }
    std::printf("%s at step %llu, %s: %s\n", evaluated.env.name().c_str(),
                static_cast<unsigned long long>(evaluated.steps),
                eval.sampled ? "sampled" : "greedy", evaluation_text(found).c_str());
    if (recording) std::printf("recorded in %s\n", recording->files().front().c_str());
}

template <class Play> void play(const Eval& eval, const Evaluated& evaluated, Play&& evaluate) {
    Environment& env = evaluated.env;
    const uint64_t seed = eval.options.seed ? uint64_t(*eval.options.seed) : env.settings().seed;
    std::optional<RunRecording> recording = begin_recording(eval, env);
    const Evaluation found =
        evaluate({.episodes = eval.episodes,
                  .seed = evaluation_seed(seed, EvaluationPurpose::asked_for),
                  .greedy = !eval.sampled,
                  .logs = true,
                  .recorder = recording ? &recording->recorder(env) : nullptr,
                  // A checkpoint's clock would draw other episodes than a file's.
                  .tick = 0,
                  .trained = evaluated.steps});
    if (recording) recording->finish();
    report(eval, evaluated, seed, found, recording);
}

void run_checkpoint(const Eval& eval) {
    run_configuration(eval.run);    // where there is no run, nobody waits for a device
    const std::shared_ptr<RunsOn> on = open_for_learner(eval.options);
    std::optional<CrashWatch> crash;
    Plugins plugins(plugin_folders(eval.options), on->cache, on->log);
    const Checkpoint checkpoint = choose_checkpoint(eval.run, eval.checkpoint, on->log);
    std::optional<Trainee> made;
    with_configuration(acting_configuration(eval.run, eval.options, on->cuda()),
                       [&](const Json& configuration, const std::string& where) {
                           crash.emplace(configuration);
                           made.emplace(begin_environment(on, plugins, configuration, where),
                                        plugins, configuration, where);
                       });
    made->load_to_act(checkpoint, eval.changed_source);
    play(eval, {checkpoint.where, checkpoint.record.steps, made->environment()},
         [&](const EvaluationRequest& request) { return made->evaluate(request); });
}

// A run's environment, or one by its name.
ResolvedConfiguration configuration_for_policies(const Eval& eval) {
    if (holds_run(eval.run)) return environment_configuration(eval.run, eval.options);
    Options options = eval.options;
    options.seed.reset();    // that of the episodes
    return resolve_configuration(sources_for(options, eval.run.string()));
}

void run_policies(const Eval& eval) {
    std::vector<NamedPolicy> policies;
    std::string files;
    uint64_t steps = 0;
    for (const std::filesystem::path& file : eval.policies) {
        policies.push_back({file.string(), open_policy_file(file)});
        files += (files.empty() ? "" : ", ") + file.string();
        steps = std::max(steps, policies.back().opened.steps);
    }
    const std::shared_ptr<RunsOn> on = open_for(eval.options);
    std::optional<CrashWatch> crash;
    Plugins plugins(plugin_folders(eval.options), on->cache, on->log);
    std::shared_ptr<Environment> env;
    with_configuration(configuration_for_policies(eval),
                       [&](const Json& configuration, const std::string& where) {
                           crash.emplace(configuration);
                           env = load_environment(on, plugins, configuration, where);
                       });
    Evaluator evaluator(*env, std::make_unique<PolicyActor>(*env, player_of(policies, *env)));
    play(eval, {files, steps, *env},
         [&](const EvaluationRequest& request) { return evaluator.play(request); });
}

}

void add_eval(CommandLine& line) {
    auto eval = std::make_shared<Eval>();
    Command command = line.add("eval", "Evaluate the policy of a run, or of exported files");
    add_run_options(command, eval->options, eval->run);
    command
        .option("--policy", eval->policies,
                "A file of 'nacelle export', .onnx or .safetensors, which acts in the run's "
                "environment, or in the one that RUN names; one for each policy of a team")
        .value_name("FILE")
        .repeated();
    add_assignments(command, eval->options);
    command
        .option("--seed", eval->options.seed,
                "Seed of the episodes, which are never those of training; the run's own where "
                "none is given")
        .between(int64_t(0), int64_t(1) << 53);
    command.option("--episodes", eval->episodes, "Whole episodes that are played")
        .between(1, 10000000)
        .shows_default();
    const Option policy = command.known("--policy");
    command
        .option("--checkpoint", eval->checkpoint,
                "best (the latest where none is), latest, or a number of steps")
        .shows_default()
        .excludes(policy);
    command.flag("--sampled", eval->sampled,
                 "Draw the actions as training does; else the most likely ones");
    command
        .flag("--changed-source", eval->changed_source,
              "Evaluate though the environment's files have changed")
        .excludes(policy);
    add_record_options(command, eval->record, "the first episode", "RUN/recordings/eval.recording");
    command.run([eval] { eval->policies.empty() ? run_checkpoint(*eval) : run_policies(*eval); });
}

}
