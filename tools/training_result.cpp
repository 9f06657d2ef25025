#include "tools/training_result.h"

#include "engine/base/number_text.h"
#include "engine/base/text.h"
#include "engine/run/open_choices.h"
#include "tools/progress_line.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>

namespace nacelle::tools {
namespace {

// Of the evaluation of the policy's other way to act, which is only compared.
constexpr uint64_t most_compared_episodes = 200;

const char* how_it_ended(const TrainingRun& run, bool interrupted) {
    return run.solved()    ? "Solved"
           : run.stopped() ? "Stopped"
           : run.paused()  ? "Paused"
           : interrupted   ? "Interrupted"
                           : "Ended";
}

// By more than their intervals, and visibly.
bool differ(const Evaluation& a, const Evaluation& b) {
    const double apart = std::abs(a.mean_return - b.mean_return);
    return apart > a.return_interval + b.return_interval &&
           apart > 0.01 * std::max(std::abs(a.mean_return), std::abs(b.mean_return));
}

const char* way_text(bool greedy) { return greedy ? "greedy" : "sampled"; }

// What a user would not expect who knows one of the two results.
void print_other_way(const TrainingRun& run, const RunResult& result) {
    if (!result.counted || !result.other) return;
    if (run.evaluated_way() == EvaluatedWay::both || differ(*result.counted, *result.other))
        std::printf("%s actions: %s\n", way_text(!result.counted_is_greedy),
                    evaluation_text(*result.other).c_str());
    if (run.evaluated_way() == EvaluatedWay::both || !differ(*result.counted, *result.other) ||
        result.other->mean_return < result.counted->mean_return)
        return;
    const char* const better = way_text(!result.counted_is_greedy);
    std::printf("warning: the policy is better with %s actions; run.evaluate is \"%s\", and may "
                "be \"%s\" or \"both\"\n",
                better, way_text(result.counted_is_greedy), better);
}

}

RunResult evaluate_run(TrainingRun& run, uint64_t episodes, const std::function<bool()>& stop,
                       bool compared) {
    const auto play = [&](bool greedy, uint64_t count) -> std::optional<Evaluation> {
        if (stop()) return std::nullopt;
        Evaluation found = run.evaluate(count, greedy, stop);
        return found.stopped ? std::nullopt : std::optional(std::move(found));
    };
    const EvaluatedWay way = run.evaluated_way();
    RunResult result{.counted_is_greedy = way != EvaluatedWay::sampled};
    result.counted = play(result.counted_is_greedy, episodes);
    const bool both = way == EvaluatedWay::both;
    if (both || compared)
        result.other = play(!result.counted_is_greedy,
                            both ? episodes : std::min(episodes, most_compared_episodes));
    if (both && result.counted && result.other &&
        result.other->mean_return > result.counted->mean_return) {
        std::swap(result.counted, result.other);
        result.counted_is_greedy = false;
    }
    return result;
}

std::vector<Suspicion> suspicions_of(TrainingRun& run, const Diagnosis& diagnosis,
                                     const std::function<bool()>& stop) {
    if (run.solved()) return {};
    const Json learner = run.configuration()["learner"];
    std::vector<Suspicion> found = diagnosis.of_metrics(learner);
    std::deque<std::vector<std::byte>> data;
    std::vector<Tensor> tensors;
    for (const NamedArray& array : run.environment().arrays().all()) {
        const Role role = array.role();
        if (role != Role::obs && role != Role::mask && role != Role::turn && role != Role::action)
            continue;
        array.read(data.emplace_back(array.bytes()).data());
        tensors.push_back({array.name(), array.dtype(), array.shape(), data.back()});
    }
    for (Suspicion& one : look_at_arrays(tensors, learner)) found.push_back(std::move(one));
    for (Suspicion& one : choices_never_open(run.trainee(), stop)) found.push_back(std::move(one));
    return found;
}

// Why a run that was resumed took no step, and what makes it take more.
void print_how_to_go_on(const TrainingRun& run) {
    const std::string resume =
        "'nacelle resume " + printable(shell_word(run.out().string())) + " --set ";
    if (run.paused())
        std::printf("It had taken these steps before: a higher --until, or none, trains on\n");
    else if (run.solved())
        std::printf("It was solved before: %ssolved.return=null' trains on to run.total_steps\n",
                    resume.c_str());
    else
        std::printf("All its steps were taken before: %srun.total_steps=%llu' trains on\n",
                    resume.c_str(), static_cast<unsigned long long>(2 * run.progress().steps));
}

void print_result(const TrainingRun& run, const RunResult& result, const RunTimes& times,
                  bool interrupted) {
    std::printf("%s after %llu steps%s\n", how_it_ended(run, interrupted),
                static_cast<unsigned long long>(run.progress().steps),
                result.counted ? (": " + evaluation_text(*result.counted)).c_str()
                : interrupted  ? "; 'nacelle resume' goes on"
                               : "; the evaluation was interrupted");
    print_other_way(run, result);
    for (const Suspicion& one : result.suspicions) std::printf("%s\n", suspicion_text(one).c_str());
    std::printf(
        "%.2f s in all: start %.2f, compile and load %.2f, train %.3f, save %.3f; results in %s\n",
        times.whole, times.opened, times.loaded, run.train_seconds(), run.save_seconds(),
        printable(run.out().string()).c_str());
}

Json result_json(const TrainingRun& run, const RunResult& found, const RunTimes& times,
                 bool interrupted) {
    Json result = {{"kind", "result"},
                   {"solved", run.solved()},
                   {"interrupted", interrupted},
                   {"stopped", run.stopped()},
                   {"paused", run.paused()},
                   {"steps", run.progress().steps},
                   {"seconds", times.whole},
                   {"start_seconds", times.opened},
                   {"compile_seconds", times.loaded},
                   {"train_seconds", run.train_seconds()},
                   {"save_seconds", run.save_seconds()},
                   {"out", run.out().string()}};
    if (found.counted) {
        result["evaluated"] = way_text(found.counted_is_greedy);
        add_evaluation(*found.counted, result);
    }
    if (found.other) add_evaluation(*found.other, result[way_text(!found.counted_is_greedy)]);
    for (const Suspicion& one : found.suspicions)
        result["suspicious"].push_back({{"what", one.what}, {"try", one.remedy}});
    return result;
}

}
