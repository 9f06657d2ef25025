#pragma once
#include "engine/config/config.h"

namespace nacelle::tools {

// One configuration of 'bench --train' with no environment named.
struct StandardTraining {
    std::string environment;
    // "env", "learner", "policies" and "run", in place of those in ENV.json.
    Json settings;
};

// The configurations for comparing releases and other trainers; smaller ones on a CPU.
std::vector<StandardTraining> standard_trainings(bool cuda);

}
