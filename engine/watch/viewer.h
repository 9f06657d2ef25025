#pragma once
#include "engine/config/config.h"

#include <string>
#include <vector>

namespace nacelle {

// The viewer of an environment, as the code that runs the environment sees it. Only show() may be called from several
// threads; no call waits for a person or for a slow page.
//
// Sections are shown, each a complete JSON text: environment, parameters, status, curves, news, arrays, picture,
// recording, player, output, refused; what a child process shows is in the list of process.cpp. Commands are objects
// with "do": pause, play, step, pace, param, reset, env, agent, arrays, quit.
class Viewer {
public:
    virtual ~Viewer() = default;
    // Whether a newer picture is requested.
    virtual bool wants_picture() = 0;
    virtual void show(const std::string& section, std::string json) = 0;
    // The commands since the last call, the oldest first.
    virtual std::vector<Json> commands() = 0;
    // A compile follows, which may take minutes: silence does not mean an endless loop.
    virtual void may_take_long() {}
};

}
