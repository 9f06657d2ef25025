#include "tests/fuzz/target.h"

namespace nacelle::fuzz {
namespace {

constexpr NamedTarget targets[] = {
    {"configuration", configuration_target},
    {"checkpoint", checkpoint_target},
    {"safetensors", safetensors_target},
    {"policy_file", policy_file_target},
    {"recording", recording_target},
    {"npy", npy_target},
    {"manifest", manifest_target},
    {"schema", schema_target},
    {"page", page_target},
    {"command", command_target},
    {"compiler", compiler_target},
    {"child", child_target},
};

}

std::span<const NamedTarget> all_targets() { return targets; }

}
