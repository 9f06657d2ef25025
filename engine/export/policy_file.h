#pragma once
#include "engine/policy/open_policy.h"

namespace nacelle {

// The formats of exported policies.
enum class PolicyFormat { onnx, safetensors, c };
struct PolicyFormatName {
    PolicyFormat format;
    const char *name, *suffix;    // "onnx", ".onnx"
};
inline constexpr PolicyFormatName policy_formats[] = {
    {PolicyFormat::onnx, "onnx", ".onnx"},
    {PolicyFormat::safetensors, "safetensors", ".safetensors"},
    {PolicyFormat::c, "c", ".h"},
};

// The content of a file. `name` is what the functions of C begin with.
std::string exported(const OpenedPolicy& policy, PolicyFormat format, const std::string& name);
// Whether a path names such a file by its end, other than the arrays of a checkpoint beside it.
bool is_policy_file(const std::filesystem::path& path);
// The policy in a file of `nacelle export`, of ONNX or safetensors. Throws where it is none.
OpenedPolicy open_policy_file(const std::filesystem::path& path);

}
