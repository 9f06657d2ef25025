#pragma once
#include "algorithms/common/layered_update.h"
#include "algorithms/common/streamed_policy.h"

#include <memory>
#include <nacelle/plugin/host.h>

namespace learn {

inline constexpr uint32_t block_items = 128;
// Multiprocessors of an H100 or H200: updates are cut for these, whatever the GPU, so that a run repeats on another one.
inline constexpr uint32_t processors = 132;
// What device/learn/observations.h has: samples whose observations a block sums.
inline constexpr uint32_t obs_chunk = 1024;
constexpr uint32_t blocks_for(uint64_t items) {
    return uint32_t((items + block_items - 1) / block_items);
}

// Blocks of a GPU that add up a network's gradient, as device/learn/optimiser.h cuts it.
inline uint32_t total_blocks(const NetworkShape& shape) {
    return uint32_t((shape.gradient_floats() + 31) / 32);
}

// How a rollout runs: all steps in one launch, by a CPU's blocks or by warps of tensor cores, or a launch a step.
enum class RolloutForm { blocks, warps, steps };
RolloutForm rollout_form_of(const Settings& settings, const nacelle_environment& environment);

// The kernels of one run, and how many items each has.
class PolicyKernels final {
public:
    PolicyKernels(nacelle::plugin::Host host, const nacelle_environment& environment,
                  const Settings& settings, const std::vector<NetworkShape>& shapes,
                  RolloutForm rollout_form);

    // All of these put their launches on the stream.
    void enlist(const Arguments& a, void* stream) const { launch(enlist_, 1, a, stream); }
    void mark(Arguments& a, Moment moment, void* stream) const;
    void begin(const Arguments& a, void* stream) const;
    void rollout(Arguments& a, void* stream) const;
    void observations(const Arguments& a, void* stream) const;
    void returns(const Arguments& a, size_t policy, void* stream) const;
    void advantages(const Arguments& a, size_t policy, void* stream) const;
    void review(const Arguments& a, size_t policy, void* stream) const;
    void minibatch(const Arguments& a, size_t policy, void* stream) const;
    void finish(const Arguments& a, void* stream) const;
    void act(Arguments& a, void* stream) const;
    bool plays() const { return play_.function != 0; }
    // Of a policy whose layers go through memory, or null.
    StreamedPolicy* streamed(size_t policy) const { return streamed_[policy].get(); }
    // Of a policy whose layers are wide for a CPU, or null.
    LayeredUpdate* layered(size_t policy) const { return layered_[policy].get(); }
    void play(const Arguments& a, void* stream) const;

private:
    struct Kernels {    // of one policy
        nacelle_kernel act, prepare, choose, close_rollout, find_values, measure_returns,
            scale_rewards, find_advantages, sum_advantages, measure_minibatch, scale_minibatch,
            review, gradient, total, decide, adam;
    };
    struct Watchers {    // of one group
        nacelle_kernel measure, follow, gather_images;
        uint64_t rows, width;
    };

    // The programs that the kernels are in.
    struct Programs {
        uint32_t update, rollout, play, rest, learning;
    };
    void find_policy(const Programs& in, size_t policy);
    void find_fused(const Programs& in, size_t policy);
    nacelle_kernel kernel(uint32_t program, const std::string& name) const {
        return host_.kernel(program, "learn_" + name);
    }
    // Of one policy, or of one group.
    nacelle_kernel kernel(uint32_t program, const std::string& name, size_t number) const {
        return kernel(program, name + "_" + std::to_string(number));
    }
    void gather_images(const Arguments& a, void* stream) const;
    void by_rows(const nacelle_kernel& kernel, size_t policy, const Arguments& a,
                 void* stream) const;
    void prepare(const Arguments& a, void* stream) const;
    void find_values(const Arguments& a, size_t policy, void* stream) const;
    void gradient(const Arguments& a, size_t policy, void* stream) const;
    void launch(const nacelle_kernel& kernel, uint64_t items, const Arguments& a,
                void* stream) const {
        host_.launch(kernel, items, block_items, a, stream);
    }
    // A warp has 16 environments, a block two warps.
    void launch_warps(const nacelle_kernel& kernel, const Arguments& a, void* stream) const {
        host_.launch(kernel, (uint64_t(environment_.envs) + 15) / 16 * 32, 64, a, stream);
    }
    bool on_tensor_cores(size_t policy) const {
        return settings_.policies[policy].on_tensor_cores();
    }
    bool learns(size_t policy) const {
        return settings_.policies[policy].role == PolicySettings::Role::trained;
    }
    // Threads for so many rows: one each, or 32 for 16 of them.
    uint64_t items_for(size_t policy, uint64_t rows) const {
        return on_tensor_cores(policy) ? (rows + 15) / 16 * 32 : rows;
    }
    uint64_t samples(const Arguments& a, size_t policy) const {
        return uint64_t(a.steps) * a.policy[policy].agents;
    }

    nacelle::plugin::Host host_;
    const nacelle_environment& environment_;
    const Settings& settings_;
    const std::vector<NetworkShape>& shapes_;
    RolloutForm rollout_form_;
    bool as_gpu_;
    nacelle_kernel enlist_{}, begin_{}, finish_{}, mark_{}, rollout_{}, play_{};
    std::vector<Kernels> kernels_;
    std::vector<std::unique_ptr<StreamedPolicy>> streamed_;
    std::vector<std::unique_ptr<LayeredUpdate>> layered_;
    std::vector<Watchers> watchers_;
};

}
