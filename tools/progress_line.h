#pragma once
#include "engine/run/run.h"

namespace nacelle::tools {

// "0:12", "1:02:10", or "-" where that is more than a hundred hours.
std::string time_left_text(double seconds);
// "41.0 %  2048000 steps  88.1 M steps/s  return 11.6  policy 160.2  0:12 left  loss.value 0.31"
std::string progress_line(const Progress& progress);
// The same as an object, with all metrics.
Json progress_json(const Progress& progress);
// "CartPole was reloaded; version 2 runs from step 262144 on, 0.61 s after it was saved"
std::string reload_text(const RunReload& reload);
// The outcome of a save, taken or not, as an object.
Json reload_json(const RunReload& reload);
// "return 500.0 ± 0.0, length 500.0 ± 0.0 over 1000 episodes (95 % intervals)", and a line for each
// policy where there are several.
std::string evaluation_text(const Evaluation& found);
void add_evaluation(const Evaluation& found, Json& to);

}
