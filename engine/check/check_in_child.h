#pragma once
#include "engine/check/finding.h"

#include <functional>

namespace nacelle {

// How to run the checks of an environment in a child process.
struct ChildChecks {
    // Starts the process that calls run_checks(); run_child() appends an argument.
    std::vector<std::string> command;
    std::filesystem::path author;    // the environment's file, to name its lines
    double timeout = 60;             // seconds that an author's function may be silent
};

// Runs the checks and passes each finding to `show`; an early end of the process is a finding as well. Returns
// whether nothing was refused.
bool check_in_child(const ChildChecks& checks, const std::function<void(const Finding&)>& show);

}
