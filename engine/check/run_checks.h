#pragma once
#include "engine/check/session.h"

namespace nacelle {

// Runs all checks of one environment, or those named in `only`, in this process, which the author's code may end at
// any time. The lines for `tell` are read by check_in_child(). Throws for errors of the configuration.
void run_checks(Subject subject, const std::vector<std::string>& only, const Tell& tell);
}
