#pragma once
#include "algorithms/replay/policy.h"

namespace torch_learn {

using replay::Method, replay::LearnerSettings, replay::least_log_deviation,
    replay::most_log_deviation;

}
