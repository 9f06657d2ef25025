#pragma once
#include "engine/config/config.h"

namespace nacelle::tools {

// One configuration of 'bench --train' with no environment named.
struct StandardTraining {
    std::string environment;
    Json
        settings;    // "env", "learner", "policies" and "run", in place of what ENV.json says of them
};

// The configurations by which releases and other trainers are compared. On a CPU they are smaller.
std::vector<StandardTraining> standard_trainings(bool cuda);

}
