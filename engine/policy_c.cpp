// The face of trained policies for applications in C.
#include "engine/nacelle.hpp"
#include "engine/policy.h"

#include <algorithm>

struct nacelle_trained_policy {
    nacelle::Policy policy;
};
struct nacelle_gpu_policy {
    nacelle::GpuPolicy policy;
    size_t inputs, choices, parts;
};

namespace {

thread_local std::string last_error;

// Whether fn ended without an exception, whose reason is kept.
template <class Fn> bool succeeds(Fn&& fn) {
    try {
        fn();
        return true;
    } catch (const std::exception& error) {
        last_error = error.what();
    } catch (...) {
        last_error = "an unknown exception was thrown";
    }
    return false;
}

// The numbers of a row.
struct RowSizes {
    size_t inputs, choices, parts;
};
RowSizes sizes_of(const nacelle_trained_policy& policy) {
    return {policy.policy.inputs(), policy.policy.choices(), policy.policy.parts()};
}
RowSizes sizes_of(const nacelle_gpu_policy& policy) {
    return {policy.inputs, policy.choices, policy.parts};
}

template <class P, class Act>
int act_in_c(const P* policy, size_t rows, const float* observations, const uint8_t* masks,
             float* actions, Act&& act) {
    if (rows == 0) return 0;
    const auto missing = [](const char* what) {
        last_error = std::string("nacelle_policy_act: ") + what + " is null";
        return 1;
    };
    if (!policy) return missing("the policy");
    if (!observations) return missing("the memory of the observations");
    if (!actions) return missing("the memory of the actions");
    const RowSizes row = sizes_of(*policy);
    return succeeds([&] {
        act(std::span(observations, rows * row.inputs), std::span(actions, rows * row.parts),
            std::span(masks, masks ? rows * row.choices : 0));
    })
               ? 0
               : 1;
}

// Without memory, what is said is that of a C++ call without it.
std::span<float> memory_of(const nacelle_trained_policy& policy, size_t rows, float* memory) {
    return {memory, memory ? rows * policy.policy.memory() : 0};
}

}

nacelle_trained_policy* nacelle_policy_open(const char* path, const char* name,
                                            const char* checkpoint) {
    nacelle_trained_policy* opened = nullptr;
    succeeds([&] {
        opened = new nacelle_trained_policy{
            nacelle::Policy(path ? path : "", name ? name : "", checkpoint ? checkpoint : "best")};
    });
    return opened;
}
void nacelle_policy_close(nacelle_trained_policy* policy) { delete policy; }

size_t nacelle_policy_inputs(const nacelle_trained_policy* policy) {
    return policy ? policy->policy.inputs() : 0;
}
size_t nacelle_policy_choices(const nacelle_trained_policy* policy) {
    return policy ? policy->policy.choices() : 0;
}
size_t nacelle_policy_memory(const nacelle_trained_policy* policy) {
    return policy ? policy->policy.memory() : 0;
}
size_t nacelle_policy_parts(const nacelle_trained_policy* policy) {
    return policy ? policy->policy.parts() : 0;
}

int nacelle_policy_act(const nacelle_trained_policy* policy, size_t rows, const float* observations,
                       const uint8_t* masks, float* actions) {
    return act_in_c(
        policy, rows, observations, masks, actions,
        [&](auto seen, auto chosen, auto open) { policy->policy.act(seen, chosen, open); });
}
int nacelle_policy_sample(nacelle_trained_policy* policy, size_t rows, const float* observations,
                          const uint8_t* masks, float* actions) {
    return act_in_c(
        policy, rows, observations, masks, actions,
        [&](auto seen, auto chosen, auto open) { policy->policy.sample(seen, chosen, open); });
}
int nacelle_policy_act_remembering(const nacelle_trained_policy* policy, size_t rows,
                                   const float* observations, const uint8_t* masks, float* memory,
                                   float* actions) {
    return act_in_c(policy, rows, observations, masks, actions,
                    [&](auto seen, auto chosen, auto open) {
                        policy->policy.act(seen, chosen, open, memory_of(*policy, rows, memory));
                    });
}
int nacelle_policy_sample_remembering(nacelle_trained_policy* policy, size_t rows,
                                      const float* observations, const uint8_t* masks,
                                      float* memory, float* actions) {
    return act_in_c(policy, rows, observations, masks, actions,
                    [&](auto seen, auto chosen, auto open) {
                        policy->policy.sample(seen, chosen, open, memory_of(*policy, rows, memory));
                    });
}
void nacelle_policy_forget(const nacelle_trained_policy* policy, float* memory, size_t row) {
    if (!policy || !memory) return;
    const size_t each = policy->policy.memory();
    std::fill_n(memory + row * each, each, 0.0f);
}
void nacelle_policy_seed(nacelle_trained_policy* policy, uint64_t seed) {
    if (policy) policy->policy.seed(seed);
}

nacelle_gpu_policy* nacelle_gpu_policy_open(const nacelle_trained_policy* policy) {
    if (!policy) {
        last_error = "nacelle_gpu_policy_open: the policy is null";
        return nullptr;
    }
    nacelle_gpu_policy* opened = nullptr;
    succeeds([&] {
        const nacelle::Policy& p = policy->policy;
        opened = new nacelle_gpu_policy{nacelle::GpuPolicy(p), p.inputs(), p.choices(), p.parts()};
    });
    return opened;
}
void nacelle_gpu_policy_close(nacelle_gpu_policy* policy) { delete policy; }
int nacelle_gpu_policy_act(const nacelle_gpu_policy* policy, size_t rows, const float* observations,
                           const uint8_t* masks, float* actions, void* stream) {
    return act_in_c(
        policy, rows, observations, masks, actions,
        [&](auto seen, auto chosen, auto open) { policy->policy.act(seen, chosen, open, stream); });
}
int nacelle_gpu_policy_sample(nacelle_gpu_policy* policy, size_t rows, const float* observations,
                              const uint8_t* masks, float* actions, void* stream) {
    return act_in_c(policy, rows, observations, masks, actions,
                    [&](auto seen, auto chosen, auto open) {
                        policy->policy.sample(seen, chosen, open, stream);
                    });
}
void nacelle_gpu_policy_seed(nacelle_gpu_policy* policy, uint64_t seed) {
    if (policy) policy->policy.seed(seed);
}

const char* nacelle_policy_error(void) { return last_error.c_str(); }
