#pragma once
#include "engine/config/config.h"

#include <map>

namespace nacelle {

// What the configuration says of an environment, before the file is compiled.
struct EnvSettings {
    std::filesystem::path source;    // absolute path of the .cu
    uint32_t count = 4096;
    uint32_t first_env = 0;    // the number of the first one in a larger run
    uint32_t levels = 0;
    uint64_t seed = 1;
    bool strict = false;    // the bits of a CPU on a GPU, and sin, cos and tan of any float
    std::map<std::string, double> constants;
    Json params = Json::object();
    std::string where = "configuration";    // whose text it is, for messages
};

inline constexpr uint32_t most_envs = 1u << 30;

// "cartpole" in one of the folders, or a path to a .cu. Throws with what there is instead.
std::filesystem::path find_environment(const std::string& name,
                                       const std::vector<std::filesystem::path>& folders);

// What makes a program strict, in both backends' code; and how NVRTC then does an author's own
// arithmetic: each operation rounded as on a CPU. Else products may fuse with sums, and a quotient
// is within 2 ulp instead of exactly rounded: 30 instructions of a CartPole step less.
inline constexpr const char* strict_define = "NACELLE_STRICT=1";
std::vector<std::string> gpu_arithmetic(bool strict);

// Reads the "env" object; `source` must be there unless given already.
EnvSettings read_env_settings(Config env, uint64_t seed,
                              const std::vector<std::filesystem::path>& folders);

}
