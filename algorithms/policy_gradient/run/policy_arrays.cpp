// The arrays of a policy gradient: what a rollout keeps, what an update sums, what a checkpoint holds.
#include "algorithms/policy_gradient/plan/schema_view.h"
#include "algorithms/policy_gradient/plan/tensor_fit.h"
#include "algorithms/policy_gradient/run/policy_gradient.h"

#include <algorithm>

namespace learn {
namespace {

template <class T> constexpr nacelle::Dtype dtype_for() {
    if constexpr (std::is_same_v<T, float>) return nacelle::Dtype::f32;
    else if constexpr (std::is_same_v<T, double>) return nacelle::Dtype::f64;
    else if constexpr (std::is_same_v<T, uint8_t>) return nacelle::Dtype::u8;
    else if constexpr (std::is_same_v<T, int32_t>) return nacelle::Dtype::i32;
    else if constexpr (std::is_same_v<T, uint32_t>) return nacelle::Dtype::u32;
    else return nacelle::Dtype::u64;
}

}

template <class T>
T* PolicyGradient::array(const std::string& name, std::initializer_list<uint64_t> shape,
                         Kept kept) {
    const std::vector<int64_t> sizes(shape.begin(), shape.end());
    return static_cast<T*>(host_.array_create(name, uint32_t(dtype_for<T>()), sizes, kept).data);
}

void PolicyGradient::make_counters() {
    arguments_.iteration = array<uint64_t>("iteration", {1}, Kept::by_all);
    arguments_.marks = array<uint64_t>("marks", {mark_count}, Kept::not_at_all);
}

void PolicyGradient::make_group(uint32_t g) {
    const SchemaView schema(environment_);
    const nacelle::Group& group = schema.header().group[g];
    Memory& memory = arguments_.memory[g];
    const std::string name = group.name;
    const uint64_t rows = uint64_t(environment_.envs) * group.count, steps = settings_.horizon,
                   width = schema.seen(g);
    const uint64_t parts = kernels_->group(g).kept_parts;
    const auto observations = [&](const char* of, uint64_t times, auto& floats, auto& pairs) {
        const std::string whole = name + ".kept." + of;
        if (settings_.keeps_pairs)
            pairs = array<uint32_t>(whole, {times, rows, parts}, Kept::not_at_all);
        else floats = array<float>(whole, {times, rows, width}, Kept::not_at_all);
    };
    observations("obs", steps + 1, memory.obs, memory.pairs);
    if (group.mask_width)
        memory.mask =
            array<uint8_t>(name + ".kept.mask", {steps, rows, group.mask_width}, Kept::not_at_all);
    memory.choice =
        array<float>(name + ".kept.choice", {steps, rows, group.action_parts}, Kept::not_at_all);
    memory.log_probability =
        array<float>(name + ".kept.log_probability", {steps, rows}, Kept::not_at_all);
    memory.value = array<float>(name + ".kept.value", {steps + 1, rows}, Kept::not_at_all);
    memory.final_value = array<float>(name + ".kept.final_value", {steps, rows}, Kept::not_at_all);
    memory.reward = array<float>(name + ".kept.reward", {steps, rows}, Kept::not_at_all);
    memory.flag = array<uint8_t>(name + ".kept.flag", {steps, rows}, Kept::not_at_all);
    bool tensor = false;
    for (const PolicySettings& policy : settings_.policies)
        tensor |= policy.on_tensor_cores() && policy.group == g;
    if (tensor)
        memory.experience =
            array<float>(name + ".kept.experience", {steps, rows, 4}, Kept::not_at_all);
    memory.advantage = array<float>(name + ".kept.advantage", {steps, rows}, Kept::not_at_all);
    memory.target = array<float>(name + ".kept.target", {steps, rows}, Kept::not_at_all);
    for (const PolicySettings& policy : settings_.policies)
        if (policy.group == g && !memory.final_obs &&
            (settings_.external || policy.critic.there ||
             (policy.on_tensor_cores() && (!policy.shared || policy.streamed()))))
            observations("final_obs", steps, memory.final_obs, memory.final_pairs);
    if (schema.image_elements(g)) {
        memory.seen = array<float>(name + ".seen", {rows, width}, Kept::not_at_all);
        memory.seen_final = array<float>(name + ".seen_final", {rows, width}, Kept::not_at_all);
    }
    if (settings_.traced)
        memory.ratio = array<float>(name + ".kept.ratio", {steps, rows}, Kept::not_at_all);
    memory.running = array<float>(name + ".running_return", {rows}, Kept::by_each);
    memory.choosers = kernels_->group(g).choosers.count;
    make_normaliser(memory, name + ".obs", steps * rows, width, parts, memory.choosers);
}

// What critics see of all environments, as observations of a group have it.
void PolicyGradient::make_overviews() {
    const uint64_t width = settings_.overview, envs = environment_.envs, steps = settings_.horizon;
    if (!width) return;
    Overviews memory{};
    const std::string name = "overview";
    memory.obs = array<float>(name + ".kept", {steps + 1, envs, width}, Kept::not_at_all);
    memory.final_obs = array<float>(name + ".kept.final", {steps, envs, width}, Kept::not_at_all);
    make_normaliser(memory, name, steps * envs, width, width, 0);
    auto* const there = reinterpret_cast<Overviews*>(
        array<uint8_t>(name + ".places", {sizeof memory}, Kept::not_at_all));
    host_.write(there, &memory, sizeof memory);
    arguments_.overviews = there;
}
template <class To>
void PolicyGradient::make_normaliser(To& memory, const std::string& name, uint64_t samples,
                                     uint64_t width, uint64_t parts, uint32_t choosers) {
    memory.mean = array<float>(name + ".mean", {width}, Kept::by_all);
    memory.scale = array<float>(name + ".scale", {width}, Kept::by_all);
    memory.obs_carried = array<double>(name + ".carried", {3 * width + 1}, Kept::by_all);
    const uint64_t slots =
        choosers ? choosers
                 : settings_.shards * obs_cut(samples / settings_.shards, parts, as_gpu()).chunks;
    memory.obs_slots = array<double>(name + ".slots", {slots, 2 * width + 1}, Kept::not_at_all);
    memory.normalises = settings_.normalises_observations;
    const std::vector<float> ones(width, 1.0f);
    host_.write(memory.scale, ones.data(), width * sizeof(float));
}

void PolicyGradient::make_policy(uint32_t p) {
    const PolicySettings& policy = settings_.policies[p];
    PolicyState& state = arguments_.policy[p];
    const std::string name = policy.name + ".policy";
    state.agents_per_env = policy.agents;
    state.agents = policy.agents * environment_.envs;
    state.agent_ids = policy.is_critic()
                          ? arguments_.policy[policy.critic_of].agent_ids
                          : array<int32_t>(name + ".agents", {policy.agents}, Kept::not_at_all);
    if (policy.role == PolicySettings::Role::random) return;
    const uint64_t parameters = uint64_t(shapes_[p].parameters());
    state.weights = array<float>(name + ".weights", {parameters}, Kept::by_all);
    if (settings_.external) return make_external(p);
    if (as_gpu())
        state.prepared = array<float>(name + ".prepared", {prepared_floats(shapes_[p], policy)},
                                      Kept::not_at_all);
    if (policy.remembers()) make_memory(p);
    else state.choosers = kernels_->policy(p).choosers;
    if (learns(p)) make_update(p);
    if (StreamedPolicy* const streamed = kernels_->streamed(p)) streamed->make_arrays(arguments_);
}

// What rows remember, and of a rollout where its sequences began and what was forgotten.
void PolicyGradient::make_memory(uint32_t p) {
    const PolicySettings& policy = settings_.policies[p];
    const NetworkShape& shape = shapes_[p];
    PolicyState& state = arguments_.policy[p];
    const std::string name = policy.name + ".policy";
    const uint64_t rows = uint64_t(environment_.envs) *
                          SchemaView(environment_).header().group[policy.group].count,
                   width = uint64_t(shape.memory());
    state.remembered = array<float>(name + ".remembered", {rows, width}, Kept::by_each);
    state.acting = array<float>(name + ".acting", {rows, width}, Kept::not_at_all);
    state.begun = array<float>(
        name + ".begun", {settings_.horizon / settings_.sequence, rows, width}, Kept::not_at_all);
    state.forgot = array<uint8_t>(name + ".forgot", {settings_.horizon, rows}, Kept::not_at_all);
    if (as_gpu() || !learns(p)) return;
    const auto floats = [&](const std::vector<int64_t>& widths) {
        std::vector<Cell> cells = shape.cells;
        cells.push_back(Cell::linear);
        return widths.empty() ? 0 : sequence_floats(widths, cells, int(cells.size()));
    };
    const int64_t slot =
        slot_floats(floats(shape.actor) + floats(shape.critic), int64_t(width), settings_.sequence);
    state.scratch = array<float>(name + ".scratch", {kernels_->policy(p).parts, uint64_t(slot)},
                                 Kept::not_at_all);
}

// Of networks that are computed elsewhere: what goes there and what comes back, by agents.
void PolicyGradient::make_external(uint32_t p) {
    const PolicySettings& policy = settings_.policies[p];
    const NetworkShape& shape = shapes_[p];
    PolicyState& state = arguments_.policy[p];
    const std::string name = policy.name + ".policy";
    const uint64_t agents = state.agents, steps = settings_.horizon,
                   width = state.memory_width = uint32_t(shape.memory());
    if (!policy.is_critic()) {
        state.standing =
            array<float>(name + ".standing", {agents, uint64_t(shape.seen)}, Kept::not_at_all);
        state.outputs = array<float>(name + ".outputs", {agents, uint64_t(shape.outputs()) + 1},
                                     Kept::not_at_all);
    }
    if (width) {
        state.remembered = array<float>(name + ".remembered", {agents, width}, Kept::by_each);
        state.acting = array<float>(name + ".acting", {agents, width}, Kept::not_at_all);
        state.begun = array<float>(name + ".begun", {steps / settings_.sequence, agents, width},
                                   Kept::not_at_all);
        state.forgot = array<uint8_t>(name + ".forgot", {steps, agents}, Kept::not_at_all);
    }
    if (!learns(p)) return;
    state.samples = array<int32_t>(name + ".samples", {steps * agents}, Kept::not_at_all);
    make_update(p);
    state.minibatch = array<int32_t>(
        name + ".minibatch",
        {divided_up(steps * agents / kernels_->policy(p).sequence, settings_.minibatches) *
         kernels_->policy(p).sequence},
        Kept::not_at_all);
    state.memory_width = uint32_t(width);
}

void PolicyGradient::make_update(uint32_t p) {
    const PolicySettings& policy = settings_.policies[p];
    PolicyState& state = arguments_.policy[p];
    const std::string name = policy.name + ".policy";
    const uint64_t parameters = uint64_t(shapes_[p].parameters());
    const PolicyPlan& plan = kernels_->policy(p);
    state.parts = plan.parts;
    const auto blocks = [](uint64_t items) { return divided_up(items, block_threads); };
    const uint64_t minibatch =
        settings_.horizon * uint64_t(state.agents) / settings_.shards / settings_.minibatches + 1;
    state.moment = array<float>(name + ".moment", {2, parameters}, Kept::by_all);
    state.carried = array<double>(name + ".carried", {carried_count}, Kept::by_all);
    if (LayeredUpdate* const layered = kernels_->layered(p)) {
        layered->make_levels();
        if (settings_.shards > 1)
            state.gradient =
                array<float>(name + ".gradient", {settings_.shards, parameters}, Kept::not_at_all);
    } else if (!policy.streamed() && !settings_.external)
        state.gradient =
            array<float>(name + ".gradient", {state.parts, uint64_t(shapes_[p].gradient_floats())},
                         Kept::not_at_all);
    state.total =
        array<float>(name + ".total", {handed_over_floats(settings_, plan)}, Kept::not_at_all);
    const uint64_t sum_blocks =
        policy.streamed() ? kernels_->streamed(p)->sum_blocks() : plan.sum_blocks();
    state.sum_blocks = uint32_t(sum_blocks);
    state.norms = array<double>(name + ".norms", {std::max(sum_blocks, blocks(parameters))},
                                Kept::not_at_all);
    state.arrived = array<uint32_t>(name + ".arrived", {1}, Kept::not_at_all);
    state.tallies = array<double>(name + ".tallies", {state.parts, tally_count}, Kept::not_at_all);
    state.sums = array<double>(name + ".sums", {tally_count}, Kept::not_at_all);
    state.slots = array<double>(
        name + ".slots",
        {settings_.shards * std::max({uint64_t(agent_blocks(state.agents / settings_.shards)),
                                      blocks(state.agents / settings_.shards), blocks(minibatch)}),
         6},
        Kept::not_at_all);
    state.dials = array<float>(name + ".dials", {dial_count}, Kept::not_at_all);
    state.found = array<double>(name + ".found", {found_count}, Kept::not_at_all);
    auto* const schedules = reinterpret_cast<Schedule*>(
        array<uint8_t>(name + ".schedules", {dial_count, sizeof(Schedule)}, Kept::not_at_all));
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
