#pragma once
#include "engine/recording/recorder.h"
#include "engine/run/actor.h"

#include <functional>

namespace nacelle {

// The results of an evaluation: of whole episodes, each the first one of a fresh environment.
struct Evaluation {
    // The 95 % interval of a mean. That of a share, of values that are all 0 or 1, stays within 0 and 1.
    struct Bounds {
        double low = 0, high = 0;
    };
    // The mean return of an agent of one policy.
    struct Policy {
        std::string name;
        double mean_return = 0, return_interval = 0;
        Bounds return_bounds = {};
    };
    // The mean of a number that the environment's report() gave, over finished episodes.
    struct Log {
        std::string name;
        double mean = 0, interval = 0;
        Bounds bounds = {};
    };
    uint64_t episodes = 0;
    // Episodes that were cut after `most_steps`, where the environment has no limit.
    uint64_t unfinished = 0;
    double mean_return = 0, return_interval = 0;    // half the width of the 95 % interval
    Bounds return_bounds = {};
    double mean_length = 0, length_interval = 0;
    std::vector<Policy> policies;    // mean_return is that of the first
    std::vector<Log> log;            // where it was asked for
    bool stopped = false;            // before all episodes had ended: there is no other result
};

// The purpose of an evaluation; each has its own random numbers, different from those of training.
enum class EvaluationPurpose : uint64_t { during_training = 1, after_training = 2, asked_for = 3 };
uint64_t evaluation_seed(uint64_t seed, EvaluationPurpose purpose);

struct EvaluationRequest {
    uint64_t episodes = 100;
    uint64_t seed = 0;    // of evaluation_seed()
    bool greedy = true;
    bool logs = false;    // what episodes reported, too; looks at every step
    // Records the first episode of each of its environments, in the first round.
    Recorder* recorder = nullptr;
    // Where the environments' clock begins, from which all that is drawn follows; it goes on from now where there is none.
    std::optional<uint64_t> tick = {};
    std::optional<uint64_t> trained = {};    // steps of training, for the recording
    std::function<bool()> stop = {};         // asked between steps; then there is no result
};

// Plays whole episodes. Afterwards environments, clock and seed are as before, so that training continues unaffected.
class Evaluator final {
public:
    static constexpr uint32_t most_steps = 10000;

    Evaluator(Environment& environment, std::unique_ptr<Actor> actor);
    // With a learner's policies.
    Evaluator(Environment& environment, LearnerInstance& learner);
    ~Evaluator();
    Evaluator(const Evaluator&) = delete;
    Evaluator& operator=(const Evaluator&) = delete;
    Evaluation play(const EvaluationRequest& request);
    // Programs and arrays of the environment are those of another version.
    void reloaded();

private:
    struct Episodes {
        std::vector<std::vector<double>> returns;    // of each policy
        std::vector<double> lengths;
        std::vector<std::vector<double>> logs;    // of each number
        uint64_t unfinished = 0;
    };
    class Kept;

    // False where it was stopped.
    bool play_round(uint32_t episodes, const EvaluationRequest& request, Recorder* recorder,
                    Episodes& found);
    void take_results(uint32_t episodes, Episodes& found);
    void take_logs(const std::vector<uint8_t>& over, Episodes& found);
    void record_steps(uint32_t episodes, bool greedy, Recorder* recorder);
    void prepare(uint32_t episodes, const EvaluationRequest& request);
    void prepare_graph(uint32_t episodes, bool greedy, Recorder* recorder);
    const Kernel& first_episodes();
    uint32_t take_steps(uint32_t episodes, uint32_t most, const EvaluationRequest& request,
                        Recorder* recorder);
    void note(uint32_t episodes, bool cut);
    bool all_over(uint32_t episodes, std::vector<uint8_t>& over);

    Environment& env_;
    std::unique_ptr<Actor> actor_;
    Program* program_ = nullptr;
    Kernel first_episodes_;    // of the program, which is built when it is needed
    Buffer returns_, lengths_, over_, logs_;
    std::unique_ptr<Graph> graph_;
    uint32_t graph_episodes_ = 0;
    bool graph_greedy_ = true;
    bool graph_records_ = false;
    std::vector<std::pair<NamedArray*, Buffer>> copies_;
};

}
