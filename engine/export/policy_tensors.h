#pragma once
#include "engine/policy/open_policy.h"
#include "engine/run/safetensors.h"

namespace nacelle {

// A policy's array under a plain name, with the shape that other libraries expect: a layer's weights are [out][in], a
// convolution's [out][in][row][column].
struct PolicyTensor {
    std::string name;    // "policy/layers.0.weight"
    std::vector<int64_t> shape;
    std::vector<float> numbers;

    std::string form() const;    // "f32 [64, 4]"
};

// What an exported file holds, whatever its format: the arrays, and texts from which the policy can be played again.
struct PolicyContent {
    SafetensorsMetadata metadata;
    std::vector<PolicyTensor> tensors;
};

PolicyContent content_of(const OpenedPolicy& policy);
// The reverse. Throws, with `where`, where it is none or not whole.
OpenedPolicy policy_of(const PolicyContent& content, const std::string& where);

}
