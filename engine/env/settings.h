#pragma once
#include "engine/compile/env_code.h"
#include "engine/config/config.h"

namespace nacelle {

// The settings of an environment, before its file is compiled.
struct EnvSettings {
    std::filesystem::path source;    // absolute path of the .cu
    uint32_t count = 4096;
    uint32_t first_env = 0;    // the number of the first one in a larger run
    uint32_t levels = 0;
    uint64_t seed = 1;
    bool strict = false;    // a GPU computes the bits of a CPU; sin, cos and tan take any float
    std::map<std::string, double> constants;
    AssignedPolicies policies;    // none: the author's file decides
    Json params = Json::object();
    std::string where = "configuration";    // whose text it is, for messages
};

inline constexpr uint32_t most_envs = 1u << 30;

// The settings that decide on the code.
EnvSource source_of(const EnvSettings& settings);

// Reads the "env" object; `source` must be there unless given already.
EnvSettings read_env_settings(Config env, uint64_t seed,
                              const std::vector<std::filesystem::path>& folders,
                              uint32_t usual_count = EnvSettings{}.count);

}
