#pragma once
#include "engine/policy/forward.h"
#include "engine/policy/policy_layout.h"

#include <functional>
#include <span>
#include <vector>

namespace nacelle {

// A trained policy in memory: its description and its numbers. It does not change, so that threads may share it.
class TrainedPolicy final {
public:
    // The numbers of an array by its name; throws where there is none, or where they are no f32.
    using ReadFloats = std::function<std::vector<float>(const std::string& name)>;
    // Where the draws of one call come from.
    struct Draws {
        uint64_t seed = 1, step = 0;
        std::span<const uint32_t> rows = {};    // whose draws each row takes; empty: its own
    };

    // Throws, with `where`, where the numbers are too few or not finite.
    TrainedPolicy(PolicyDescription description, const ReadFloats& read, const std::string& where);
    TrainedPolicy(const TrainedPolicy&) = delete;
    TrainedPolicy& operator=(const TrainedPolicy&) = delete;

    const PolicyDescription& description() const { return description_; }
    // Matrix by matrix; the policy's own outputs are the last layer's.
    const std::vector<DenseLayer>& layers() const { return layers_; }
    const std::vector<DenseLayer>& filters() const { return filters_; }
    // What tells an observation's value: one more output of the last layer, or a network of its own, as layers() and
    // filters() are; empty where the policy has none.
    const std::vector<DenseLayer>& value_layers() const { return value_layers_; }
    const std::vector<DenseLayer>& value_filters() const { return value_filters_; }
    bool shares_layers() const { return description_.sizes.back() > description_.outputs(); }
    // Of each input; empty where it is seen as it is.
    const std::vector<float>& mean() const { return mean_; }
    const std::vector<float>& scale() const { return scale_; }
    // Of these parts, which lie wherever the actions are worked out.
    ActionForm form(const ActionRange* parts) const;
    const std::vector<ActionRange>& parts() const { return parts_; }
    // The number of rows; throws where a size does not fit.
    size_t rows_of(std::span<const float> observations, std::span<float> actions,
                   std::span<const uint8_t> masks) const;
    // Writes an action for each row of observations: the most probable ones, or draws. `masks` may be empty: all is
    // open. `memory` has description().memory() numbers a row, 0 where an episode begins, and gets those of the next
    // step. Throws where a size does not fit, or an observation is not finite; nothing is written then.
    void act(std::span<const float> observations, std::span<float> actions,
             std::span<const uint8_t> masks, const Draws* draws,
             std::span<float> memory = {}) const;

private:
    void require_finite_rows(std::span<const float> observations) const;
    void require_memory(size_t rows, std::span<const float> memory) const;
    template <class Fn>
    void each_row(std::span<const float> observations, std::span<float> memory, Fn&& fn) const;

    PolicyDescription description_;
    std::vector<float> numbers_, mean_, scale_;    // of all layers, one behind the other
    std::vector<DenseLayer> filters_, layers_, value_filters_, value_layers_;
    std::vector<PolicyCell> cells_;    // of each layer; empty: all are linear
    std::vector<ActionRange> parts_;
    size_t widest_ = 0, beside_ = 0;    // see ForwardPass::scratch_floats()
};

}
