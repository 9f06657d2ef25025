#pragma once
#include "algorithms/policy_gradient/plan/kernels.h"

#include <functional>
#include <memory>
#include <nacelle/plugin/learner.h>

namespace learn {

// A policy, or a central critic, whose networks are computed by other means than the kernels of this folder: by a library, say. Steps, what a
// rollout keeps, returns, advantages, the order of samples and metrics stay as they are. Between record()'s launches it
// runs code of its own, so the learner captures itself.
class ExternalPolicy {
public:
    virtual ~ExternalPolicy() = default;

    // The arrays are there, weights and all.
    virtual void begin(const Arguments& a) = 0;
    // From what agents see now to `outputs`, with what they remember in `remembered`.
    virtual void forward(const Arguments& a, void* stream) = 0;
    // Of the ends that are kept of step a.step - 1, before anything is forgotten.
    virtual void value_ends(const Arguments& a, void* stream) = 0;
    // The values behind a rollout, of where agents stand and of all ends that forward() was not asked for. Of a central
    // critic all values, before a review anew.
    virtual void close_rollout(const Arguments& a, void* stream) = 0;
    // All samples' values and ratios now.
    virtual void review(const Arguments& a, void* stream) = 0;
    // One update by so many samples, whose numbers are in `minibatch`.
    virtual void update(const Arguments& a, uint64_t samples, void* stream) = 0;
};

// What makes them: the settings' policy of this number, whose kernels are these.
using MakeExternal = std::function<std::unique_ptr<ExternalPolicy>(
    nacelle::plugin::Host host, const Settings& settings, const NetworkShape& shape,
    uint32_t number)>;

}
