#pragma once
#include "engine/env/reloader.h"
#include "engine/run/trainee.h"
#include "engine/watch/channel_viewer.h"
#include "engine/watch/curves.h"
#include "engine/watch/env_display.h"
#include "engine/watch/saved_data.h"
#include "engine/watch/step_recording.h"

#include <optional>

namespace nacelle {

struct WatchSettings {
    uint64_t steps = 0;    // after which it ends; 0: never
    double pace = 60;      // steps a second; 0: as many as can be
    bool paused = false;
    // A policy's actions are sampled as in training; otherwise they are the most likely ones.
    bool sampled = false;
    RecordSettings record = {};    // no environments: nothing is kept
    std::filesystem::path record_to = {};
    std::optional<uint64_t> trained = {};    // steps that the policy was trained for
    SettingsFiles configured = {};           // with a policy none: its run has its own
};

// Steps an environment for somebody who watches it and edits its file: at a pace that an eye can follow, with random
// actions or a policy's, and with every saved version. Errors of the running version (a number that is not finite)
// are thrown; errors of a save are shown.
class WatchSession final {
public:
    // `trainee`: its policy acts in its environment; null: random actions in `env`.
    WatchSession(std::shared_ptr<Environment> env, std::unique_ptr<Trainee> trainee,
                 std::shared_ptr<ChannelViewer> viewer, const WatchSettings& settings,
                 std::string policy);

    // Runs until all steps are taken or the viewer quits.
    void run();

private:
    using Clock = std::chrono::steady_clock;

    Environment& env() { return *env_; }
    bool over() const { return quits_ || (settings_.steps && taken_ >= settings_.steps); }
    void obey(const Json& command);
    void take_reload();
    void take_data();
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
    std::shared_ptr<ChannelViewer> viewer_;
    WatchSettings settings_;
    std::string policy_;
    EnvDisplay display_;
    Reloader reloader_;
    SavedData data_;
    Curves curves_;
    uint64_t taken_ = 0, single_ = 0;    // single_: steps that are asked for one by one
    bool quits_ = false;
    std::optional<Reload> reload_;    // taken; its first step is still to come
    // What was wrong with the last save of the source, and of a table or the settings; the outcome of the last save.
    Json problem_, data_problem_, last_reload_, last_data_;
    uint64_t reloads_ = 0;
    Clock::time_point due_, told_, summed_;
    uint64_t told_steps_ = 0;
    double rate_ = 0, episodes_ = 0;
    Totals totals_;    // of the last time in which an episode ended
    std::optional<StepRecording> recording_;
};

}
