// The arrays of a policy gradient: what a rollout keeps, what an update sums, what a checkpoint holds.
#include "algorithms/common/policy_gradient.h"
#include "algorithms/common/schema_view.h"
#include "algorithms/common/tensor_fit.h"

#include <algorithm>
#include <learn/conv_tiles.h>

namespace learn {
namespace {

// Parts of an update that sum apart, whatever the machine, so that results do not depend on it: enough
// for all processors, and few enough that adding them up costs little. A wide network has many sums.
constexpr uint32_t cpu_parts = 32, emulated_parts = 3;

template <class T> constexpr nacelle::Dtype dtype_for() {
    if constexpr (std::is_same_v<T, float>) return nacelle::Dtype::f32;
    else if constexpr (std::is_same_v<T, double>) return nacelle::Dtype::f64;
    else if constexpr (std::is_same_v<T, uint8_t>) return nacelle::Dtype::u8;
    else if constexpr (std::is_same_v<T, int32_t>) return nacelle::Dtype::i32;
    else if constexpr (std::is_same_v<T, uint32_t>) return nacelle::Dtype::u32;
    else return nacelle::Dtype::u64;
}

// Room for a policy's weights as a GPU's kernels read them; the second network begins on 64 words.
uint64_t prepared_floats(const NetworkShape& shape, const PolicySettings& policy) {
    const auto words = [&](const std::vector<int64_t>& widths) -> uint64_t {
        if (policy.streamed())
            return uint64_t(conv_words(shape.encoder, policy.planes)) +
                   tiled_words(widths, int(widths.size()) - 1, policy.planes);
        return TensorFit(widths, {.planes = policy.planes}).words;
    };
    return second_network_at(words(shape.actor)) + (shape.shared ? 0 : words(shape.critic));
}

}

template <class T>
T* PolicyGradient::array(const std::string& name, std::initializer_list<uint64_t> shape,
                         bool persistent) {
    const std::vector<int64_t> sizes(shape.begin(), shape.end());
    return static_cast<T*>(
        host_.array_create(name, uint32_t(dtype_for<T>()), sizes, persistent).data);
}

void PolicyGradient::make_counters() {
    arguments_.iteration = array<uint64_t>("iteration", {1}, true);
    arguments_.marks = array<uint64_t>("marks", {mark_count}, false);
}

void PolicyGradient::make_group(uint32_t g) {
    const SchemaView schema(environment_);
    const nacelle::Group& group = schema.header().group[g];
    Memory& memory = arguments_.memory[g];
    const std::string name = group.name;
    const uint64_t rows = uint64_t(environment_.envs) * group.count, steps = settings_.horizon,
                   width = schema.seen(g);
    memory.obs = array<float>(name + ".kept.obs", {steps + 1, rows, width}, false);
    if (group.mask_width)
        memory.mask = array<uint8_t>(name + ".kept.mask", {steps, rows, group.mask_width}, false);
    memory.choice = array<float>(name + ".kept.choice", {steps, rows, group.action_parts}, false);
    memory.log_probability = array<float>(name + ".kept.log_probability", {steps, rows}, false);
    memory.value = array<float>(name + ".kept.value", {steps + 1, rows}, false);
    memory.final_value = array<float>(name + ".kept.final_value", {steps, rows}, false);
    memory.reward = array<float>(name + ".kept.reward", {steps, rows}, false);
    memory.flag = array<uint8_t>(name + ".kept.flag", {steps, rows}, false);
    bool tensor = false;
    for (const PolicySettings& policy : settings_.policies)
        tensor |= policy.on_tensor_cores() && policy.group == g;
    if (tensor)
        memory.experience = array<float>(name + ".kept.experience", {steps, rows, 4}, false);
    memory.advantage = array<float>(name + ".kept.advantage", {steps, rows}, false);
    memory.target = array<float>(name + ".kept.target", {steps, rows}, false);
    for (const PolicySettings& policy : settings_.policies)
        if (policy.group == g && policy.on_tensor_cores() &&
            (!policy.shared || policy.streamed()) && !memory.final_obs)
            memory.final_obs = array<float>(name + ".kept.final_obs", {steps, rows, width}, false);
    if (schema.image_elements(g)) {
        memory.seen = array<float>(name + ".seen", {rows, width}, false);
        memory.seen_final = array<float>(name + ".seen_final", {rows, width}, false);
    }
    if (settings_.traced) memory.ratio = array<float>(name + ".kept.ratio", {steps, rows}, false);
    memory.running = array<float>(name + ".running_return", {rows}, true);
    memory.mean = array<float>(name + ".obs.mean", {width}, true);
    memory.scale = array<float>(name + ".obs.scale", {width}, true);
    memory.obs_carried = array<double>(name + ".obs.carried", {3 * width + 1}, true);
    memory.obs_slots = array<double>(
        name + ".obs.slots", {(steps * rows + obs_chunk - 1) / obs_chunk, 2 * width + 1}, false);
    memory.normalises = settings_.normalises_observations;
    const std::vector<float> ones(width, 1.0f);
    host_.write(memory.scale, ones.data(), width * sizeof(float));
    if (!settings_.traced) return;
    const std::vector<float> same(steps * rows, 1.0f);
    host_.write(memory.ratio, same.data(), same.size() * sizeof(float));
}

void PolicyGradient::make_policy(uint32_t p) {
    const PolicySettings& policy = settings_.policies[p];
    PolicyState& state = arguments_.policy[p];
    const std::string name = policy.name + ".policy";
    state.agents_per_env = policy.agents;
    state.agents = policy.agents * environment_.envs;
    state.agent_ids = array<int32_t>(name + ".agents", {policy.agents}, false);
    if (policy.role == PolicySettings::Role::random) return;
    const uint64_t parameters = uint64_t(shapes_[p].parameters());
    state.weights = array<float>(name + ".weights", {parameters}, true);
    if (as_gpu())
        state.prepared =
            array<float>(name + ".prepared", {prepared_floats(shapes_[p], policy)}, false);
    if (learns(p)) make_update(p);
    if (StreamedPolicy* const streamed = kernels_->streamed(p)) streamed->make_arrays(arguments_);
}

// How many share an update: numbers that do not depend on the machine, so that a run repeats on another
// GPU. On tensor cores as many blocks as an H100 or H200 has room for, a half for each of two networks.
uint32_t PolicyGradient::parts_of(uint32_t p) const {
    const PolicySettings& policy = settings_.policies[p];
    if (!as_gpu()) return cpu_parts;
    if (settings_.emulates) return emulated_parts;
    if (policy.streamed()) return 2 * processors;
    return processors * policy.resident / (shapes_[p].shared ? 1 : 2);
}

void PolicyGradient::make_update(uint32_t p) {
    const PolicySettings& policy = settings_.policies[p];
    PolicyState& state = arguments_.policy[p];
    const std::string name = policy.name + ".policy";
    const uint64_t parameters = uint64_t(shapes_[p].parameters());
    state.parts = parts_of(p);
    const uint64_t minibatch =
        uint64_t(settings_.horizon) * state.agents / settings_.minibatches + 1;
    state.moment = array<float>(name + ".moment", {2, parameters}, true);
    state.carried = array<double>(name + ".carried", {carried_count}, true);
    if (!policy.streamed())
        state.gradient = array<float>(name + ".gradient",
                                      {state.parts, uint64_t(shapes_[p].gradient_floats())}, false);
    state.total = array<float>(name + ".total", {parameters}, false);
    const uint32_t sum_blocks =
        policy.streamed() ? kernels_->streamed(p)->sum_blocks() : total_blocks(shapes_[p]);
    state.norms =
        array<double>(name + ".norms", {std::max(sum_blocks, blocks_for(parameters))}, false);
    state.arrived = array<uint32_t>(name + ".arrived", {1}, false);
    state.tallies = array<double>(name + ".tallies", {state.parts, tally_count}, false);
    state.sums = array<double>(name + ".sums", {tally_count}, false);
    state.slots = array<double>(
        name + ".slots", {std::max(blocks_for(state.agents), blocks_for(minibatch)), 6}, false);
    state.dials = array<float>(name + ".dials", {dial_count}, false);
    state.found = array<double>(name + ".found", {found_count}, false);
    auto* const schedules = reinterpret_cast<Schedule*>(
        array<uint8_t>(name + ".schedules", {dial_count, sizeof(Schedule)}, false));
    host_.write(schedules, policy.dials, sizeof policy.dials);
    state.schedules = schedules;
    state.scales_rewards = settings_.scales_rewards;
    state.scales_advantages = settings_.scales_advantages;
    state.most_reward = float(settings_.reward_bound);
    state.reward_factor = float(settings_.reward_factor);
}

void PolicyGradient::fill_policy(uint32_t p) {
    if (!arguments_.policy[p].weights) return;
    const std::vector<float> weights =
        initial_weights(shapes_[p], settings_.policies[p], environment_.seed, p);
    host_.write(arguments_.policy[p].weights, weights.data(), weights.size() * sizeof(float));
}

}
