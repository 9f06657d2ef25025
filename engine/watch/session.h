#pragma once
#include "engine/env/reloader.h"
#include "engine/run/trainee.h"
#include "engine/watch/curves.h"
#include "engine/watch/line_viewer.h"
#include "engine/watch/showing.h"
#include "engine/watch/step_recording.h"

#include <optional>

namespace nacelle {

struct WatchSettings {
    uint64_t steps = 0;    // after which it ends; 0: never
    double pace = 60;      // steps a second; 0: as many as can be
    bool paused = false;
    bool sampled =
        false;    // a policy's actions are drawn as in training, else the most likely ones
    RecordSettings record = {};    // no environments: nothing is kept
    std::filesystem::path record_to = {};
    std::optional<uint64_t> trained = {};    // steps that the policy was trained for
};

// Steps an environment for somebody who looks at it and works on its file: at a pace that an eye can
// follow, with random actions or a policy's, and with every version that is saved. What is wrong with a
// running version (a number that is not finite) is thrown; what is wrong with a save is shown.
class WatchSession final {
public:
    // `trainee`: whose policy acts in its environment; null: random actions in `env`.
    WatchSession(std::shared_ptr<Environment> env, std::unique_ptr<Trainee> trainee,
                 std::shared_ptr<LineViewer> viewer, const WatchSettings& settings,
                 std::string policy);

    // Until all steps are taken, or somebody quits.
    void run();

private:
    using Clock = std::chrono::steady_clock;

    Environment& env() { return *env_; }
    bool over() const { return quits_ || (settings_.steps && taken_ >= settings_.steps); }
    void obey(const Json& command);
    void take_reload();
    void step_once();
    void step_as_due();
    void tell(bool at_once);
    void tell_status();
    void tell_news();
    void tell_recording();
    void record_version();
    double seconds_to_wait() const;

    std::shared_ptr<Environment> env_;
    std::unique_ptr<Trainee> trainee_;
    std::shared_ptr<LineViewer> viewer_;
    WatchSettings settings_;
    std::string policy_;
    Showing showing_;
    Reloader reloader_;
    Curves curves_;
    uint64_t taken_ = 0, single_ = 0;    // single_: steps that are asked for one by one
    bool quits_ = false;
    std::optional<Reload> reload_;    // taken, its first step still to come
    Json problem_, last_reload_;
    uint64_t reloads_ = 0;
    Clock::time_point due_, told_, summed_;
    uint64_t told_steps_ = 0;
    double rate_ = 0, episodes_ = 0;
    Totals totals_;    // of the last time in which an episode ended
    std::optional<StepRecording> recording_;
};

}
