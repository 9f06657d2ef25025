#pragma once
#include "engine/watch/paint_thread.h"

#include <chrono>
#include <functional>

namespace nacelle {

// Limits on the time for showing an environment.
struct DisplayLimits {
    double copying = 0.5, painting = 0.5;    // shares of the time
    double pictures = 30;                    // in a second, at most
};

// Shows one environment of a batch, and one of its agents, to a viewer: its picture and its arrays, while the viewer
// asks for pictures and within the limits. Called between steps.
class EnvDisplay final {
public:
    EnvDisplay(std::shared_ptr<Viewer> viewer, DisplayLimits limits);

    // Shows this environment, or this version of it, from now on.
    void attach(Environment& env, const std::string& policy);
    // Shows nothing until attach(): the environment is about to be destroyed.
    void detach();
    // Executes the commands env, agent and arrays; false for others. Ignores an environment, agent or array that does
    // not exist.
    bool obey(const Json& command);
    // Sets a parameter by `set` from a slider's command; shows errors and throws nothing.
    using SetParam = std::function<void(const std::string&, const Json&)>;
    void set_param(const Json& command, const SetParam& set);
    // Shows a picture where one is requested and due. `step` is shown beside it.
    void show_if_wanted(uint64_t step);
    // Shows the current parameters.
    void show_parameters();
    Viewer& viewer() { return *viewer_; }
    uint32_t which() const { return which_; }
    // Shows the environment again though nothing has changed.
    void show_again() { due_ = {}; }

private:
    using Clock = std::chrono::steady_clock;
    void choose_arrays(const std::string& word);
    void make_drawing();

    std::shared_ptr<Viewer> viewer_;
    DisplayLimits limits_;
    Environment* env_ = nullptr;
    std::shared_ptr<Drawing> drawing_;
    bool tried_ = false;
    std::string note_;    // why there is no draw()
    uint32_t which_ = 0;
    ArrayChoice arrays_;
    Clock::time_point due_{};
    PaintThread paint_thread_;
};

}
