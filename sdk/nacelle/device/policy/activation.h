#pragma once
#include <nacelle/math.h>
// The activation function behind each hidden layer of a trained policy that acts, and how what goes into the first layer
// is normalised. A CPU and a GPU compile this text.

namespace nacelle {

// In the order of the names in engine/policy/read_policy_description.cpp.
enum class PolicyActivation : uint32_t { tanh, relu, gelu, silu };

namespace detail {

// The same functions as those that the learners train with; gelu is the form with tanh.
struct Tanh {
    static NACELLE_INLINE float at(float x) { return tanh(x); }
};
struct Relu {
    static NACELLE_INLINE float at(float x) { return max(x, 0.0f); }
};
struct Silu {
    static NACELLE_INLINE float at(float x) { return x * (0.5f * tanh(0.5f * x) + 0.5f); }
};
struct Gelu {
    static NACELLE_INLINE float at(float x) {
        return 0.5f * x * (1.0f + tanh(0.7978845608f * x * (1.0f + 0.044715f * x * x)));
    }
};

// fn(the activation's struct).
template <class Fn> NACELLE_INLINE void with_activation(PolicyActivation activation, Fn&& fn) {
    switch (activation) {
        case PolicyActivation::tanh: return fn(Tanh());
        case PolicyActivation::relu: return fn(Relu());
        case PolicyActivation::silu: return fn(Silu());
        case PolicyActivation::gelu: return fn(Gelu());
    }
}

NACELLE_INLINE float normalised(float x, float mean, float scale, float bound) {
    return clamp((x - mean) * scale, -bound, bound);
}

}
}
