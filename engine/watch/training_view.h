#pragma once
#include "engine/run/run.h"
#include "engine/watch/curves.h"
#include "engine/watch/env_display.h"

namespace nacelle {

// Shows a training run. Copies of the shown environment are taken between rollouts, rarely enough to take less than a
// hundredth of the run's time; painting has a thread of its own.
class TrainingView final {
public:
    // Registers itself with the run. `stops`: whether a paused run is to end.
    TrainingView(TrainingRun& run, std::shared_ptr<Viewer> viewer, std::function<bool()> stops);
    ~TrainingView();
    TrainingView(const TrainingView&) = delete;
    TrainingView& operator=(const TrainingView&) = delete;

    // To be called after metrics were read.
    void progressed();
    void reloaded(const RunReload& reload);

private:
    void look(uint64_t steps);
    void obey(const Json& command);
    void tell_status();

    TrainingRun& run_;
    std::shared_ptr<Viewer> viewer_;
    std::function<bool()> stops_;
    EnvDisplay display_;
    Curves curves_;
    Environment* shown_ = nullptr;
    uint64_t shown_version_ = 0, steps_ = 0, singles_ = 0, reloads_ = 0;
    bool paused_ = false;
    Json last_reload_;
    std::chrono::steady_clock::time_point told_{};
};

}
