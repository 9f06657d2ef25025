#pragma once
#include "engine/watch/painting.h"

#include <chrono>
#include <functional>

namespace nacelle {

// How much of the time of who runs an environment may go into showing it.
struct ShowLimits {
    double copying = 0.5, painting = 0.5;    // shares of the time
    double pictures = 30;                    // in a second, at most
};

// Shows one environment, and one agent of it, of those that run, to a viewer: its picture and its arrays, while
// somebody looks, as seldom as the limits say. To be called by who runs it, between steps.
class Showing final {
public:
    Showing(std::shared_ptr<Viewer> viewer, ShowLimits limits);

    // This environment from now on, or this version of it.
    void attach(Environment& env, const std::string& policy);
    // Nothing more until attach(): the environment is about to go.
    void detach();
    // env, agent, arrays; false where it is something else. What there is not is passed over.
    bool obey(const Json& command);
    // A slider's name and value, by who can set it; what is wrong with them is shown, and nothing is thrown.
    using SetParam = std::function<void(const std::string&, const Json&)>;
    void set_param(const Json& command, const SetParam& set);
    // A picture, where one is wanted and it is time for it. `step` is what it says beside the picture.
    void show_if_wanted(uint64_t step);
    // All parameters as they are now.
    void show_parameters();
    Viewer& viewer() { return *viewer_; }
    uint32_t which() const { return which_; }
    // To be shown anew though nothing has moved.
    void look_again() { due_ = {}; }

private:
    using Clock = std::chrono::steady_clock;
    void make_drawing();

    std::shared_ptr<Viewer> viewer_;
    ShowLimits limits_;
    Environment* env_ = nullptr;
    std::shared_ptr<Drawing> drawing_;
    bool tried_ = false;
    std::string note_;    // why there is no draw()
    uint32_t which_ = 0;
    ArrayChoice arrays_;
    Clock::time_point due_{};
    Painting painting_;
};

}
