#pragma once
#include "engine/check/finding.h"

#include <functional>

namespace nacelle {

// How an environment's checks are run in a process of their own.
struct ChildChecks {
    std::vector<std::string>
        command;                     // starts what calls run_checks(); run_child() adds an argument
    std::filesystem::path author;    // the file, to name its lines
    double timeout = 60;             // seconds that an author's function may be silent
};

// Runs them and gives each finding to `show`. What ended the process early is a finding of its own.
// Returns whether nothing was refused.
bool check_in_child(const ChildChecks& checks, const std::function<void(const Finding&)>& show);

}
