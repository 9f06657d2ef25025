#pragma once
#include "engine/config/config.h"

#include <string>
#include <vector>

namespace nacelle {

// Whoever looks at an environment while it runs, as the one who runs it sees them. Only show() may be
// called from several threads; nothing here waits for a person, or for a page that does not read.
//
// What is shown are sections, each a JSON text that says all of its own: environment, parameters,
// status, curves, news, arrays, picture, recording, film. What is asked for are objects with "do": pause, play, step,
// pace, param, env, agent, arrays, quit.
class Viewer {
public:
    virtual ~Viewer() = default;
    // Whether somebody waits for a newer picture than the last.
    virtual bool wants_picture() = 0;
    virtual void show(const std::string& section, std::string json) = 0;
    // What was asked for since the last time, the oldest first.
    virtual std::vector<Json> commands() = 0;
    // What comes next, a compiler's work, may take minutes: silence is no sign of an endless loop.
    virtual void may_take_long() {}
};

}
