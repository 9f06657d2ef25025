#pragma once
#include "engine/check/session.h"

namespace nacelle {

// All checks of one environment, or those named in `only`, in this process, which an author's code
// may end at any time. Each line that `tell` takes is for check_in_child(), which waits for this
// process. Throws what is wrong with the configuration.
void run_checks(Subject subject, const std::vector<std::string>& only, const Tell& tell);
}
