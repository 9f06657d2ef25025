#pragma once
#include "engine/base/signal_stack.h"
#include "engine/config/config.h"

#include <string>
#include <vector>

namespace nacelle::tools {

// A path as a user would type it.
std::string typed_path(const std::filesystem::path& path);

// While it lives, a fatal signal is told before it ends the process as usual: which environment's code ran, what to do,
// and what is left of the run. An author's code runs in this process, where its crash cannot become an Error.
class CrashWatch final {
public:
    // Takes the environment's file from "env.source". One lives at a time.
    explicit CrashWatch(const Json& configuration);
    ~CrashWatch();
    CrashWatch(const CrashWatch&) = delete;
    CrashWatch& operator=(const CrashWatch&) = delete;

    // Sets the sentence that follows the message, such as what is left of a run.
    void add(const std::string& sentence);

private:
    SignalStack stack_;
    std::vector<struct sigaction> before_;
    std::string text_;    // what is told with every signal, without the added sentence
};

}
