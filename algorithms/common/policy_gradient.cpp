#include "algorithms/common/policy_gradient.h"

#include "algorithms/common/headers.h"
#include "algorithms/common/schema_view.h"
#include "algorithms/common/spec_text.h"

#include <algorithm>

namespace learn {
namespace {

constexpr uint32_t block = 128;
// Parts of an update that sum apart, whatever the machine, so that results do not depend on it: enough
// for all processors, and few enough that adding them up costs little.
constexpr uint32_t cpu_slots = 32, gpu_slots = 264;
constexpr uint32_t blocks_for(uint64_t items) { return uint32_t((items + block - 1) / block); }

template <class T> constexpr nacelle::Dtype dtype_for() {
    if constexpr (std::is_same_v<T, float>) return nacelle::Dtype::f32;
    else if constexpr (std::is_same_v<T, double>) return nacelle::Dtype::f64;
    else if constexpr (std::is_same_v<T, uint8_t>) return nacelle::Dtype::u8;
    else if constexpr (std::is_same_v<T, int32_t>) return nacelle::Dtype::i32;
    else return nacelle::Dtype::u64;
}

}

PolicyGradient::PolicyGradient(const Algorithm& algorithm, nacelle::plugin::Host host,
                               std::string_view config)
    : host_(host),
      environment_(host.environment()),
      settings_(read_settings(algorithm, config, environment_)) {
    const nacelle::Header& header = SchemaView(environment_).header();
    for (uint32_t g = 0; g < header.groups; ++g) {
        if (header.group[g].obs_width == 0)
            throw std::runtime_error(std::string(environment_.name) +
                                     ": a network needs numbers in Obs; there are only arrays");
        group_rows_.push_back(environment_.envs * header.group[g].count);
        group_widths_.push_back(header.group[g].obs_width);
    }
    for (const PolicySettings& policy : settings_.policies)
        shapes_.emplace_back(policy, environment_);
    arguments_.steps = settings_.horizon;
    arguments_.epochs = settings_.epochs;
    arguments_.minibatches = settings_.minibatches;
    arguments_.slots = environment_.on_gpu ? gpu_slots : settings_.emulates ? 3 : cpu_slots;
    arguments_.iteration = array<uint64_t>("iteration", {1}, true);
    arguments_.marks = array<uint64_t>("marks", {mark_count}, false);
    for (uint32_t g = 0; g < header.groups; ++g) make_group(g);
    for (uint32_t p = 0; p < settings_.policies.size(); ++p) make_policy(p);
    compile();
    for (uint32_t p = 0; p < settings_.policies.size(); ++p) fill_policy(p);
}

template <class T>
T* PolicyGradient::array(const std::string& name, std::initializer_list<uint64_t> shape,
                         bool persistent) {
    const std::vector<int64_t> sizes(shape.begin(), shape.end());
    return static_cast<T*>(
        host_.array_create(name, uint32_t(dtype_for<T>()), sizes, persistent).data);
}

void PolicyGradient::make_group(uint32_t g) {
    const nacelle::Group& group = SchemaView(environment_).header().group[g];
    Memory& memory = arguments_.memory[g];
    const std::string name = group.name;
    const uint64_t rows = group_rows_[g], steps = settings_.horizon, width = group.obs_width;
    memory.obs = array<float>(name + ".kept.obs", {steps + 1, rows, width}, false);
    if (group.mask_width)
        memory.mask = array<uint8_t>(name + ".kept.mask", {steps, rows, group.mask_width}, false);
    memory.choice = array<float>(name + ".kept.choice", {steps, rows, group.action_parts}, false);
    memory.log_odds = array<float>(name + ".kept.log_odds", {steps, rows}, false);
    memory.value = array<float>(name + ".kept.value", {steps + 1, rows}, false);
    memory.final_value = array<float>(name + ".kept.final_value", {steps, rows}, false);
    memory.reward = array<float>(name + ".kept.reward", {steps, rows}, false);
    memory.flag = array<uint8_t>(name + ".kept.flag", {steps, rows}, false);
    memory.advantage = array<float>(name + ".kept.advantage", {steps, rows}, false);
    memory.target = array<float>(name + ".kept.target", {steps, rows}, false);
    if (settings_.traced) memory.ratio = array<float>(name + ".kept.ratio", {steps, rows}, false);
    memory.running = array<float>(name + ".running_return", {rows}, true);
    memory.mean = array<float>(name + ".obs.mean", {width}, true);
    memory.scale = array<float>(name + ".obs.scale", {width}, true);
    memory.obs_carried = array<double>(name + ".obs.carried", {3 * width + 1}, true);
    memory.obs_slots = array<double>(name + ".obs.slots", {blocks_for(rows), 2 * width + 1}, false);
    memory.normalises = settings_.normalises_observations;
    const std::vector<float> ones(width, 1.0f);
    host_.write(memory.scale, ones.data(), width * sizeof(float));
    if (!settings_.traced) return;
    const std::vector<float> same(steps * rows, 1.0f);
    host_.write(memory.ratio, same.data(), same.size() * sizeof(float));
}

void PolicyGradient::make_policy(uint32_t p) {
    const PolicySettings& policy = settings_.policies[p];
    Pupil& pupil = arguments_.pupil[p];
    const std::string name = policy.name + ".policy";
    pupil.agent_count = policy.agents;
    pupil.seats = policy.agents * environment_.envs;
    pupil.agents = array<int32_t>(name + ".agents", {policy.agents}, false);
    if (policy.role == PolicySettings::Role::random) return;
    const uint64_t parameters = uint64_t(shapes_[p].parameters());
    pupil.weights = array<float>(name + ".weights", {parameters}, true);
    if (as_gpu())
        pupil.prepared =
            array<float>(name + ".prepared", {uint64_t(shapes_[p].prepared_floats())}, false);
    if (learns(p)) make_update(p);
}

void PolicyGradient::make_update(uint32_t p) {
    const PolicySettings& policy = settings_.policies[p];
    Pupil& pupil = arguments_.pupil[p];
    const std::string name = policy.name + ".policy";
    const uint64_t parameters = uint64_t(shapes_[p].parameters());
    if (as_gpu())
        pupil.sheets = array<float>(
            name + ".sheets",
            {arguments_.slots, uint64_t(shapes_[p].sheet_floats(policy.activation)) * block},
            false);
    const uint64_t minibatch =
        uint64_t(settings_.horizon) * pupil.seats / settings_.minibatches + 1;
    pupil.moment = array<float>(name + ".moment", {2, parameters}, true);
    pupil.carried = array<double>(name + ".carried", {carried_count}, true);
    pupil.gradient = array<float>(
        name + ".gradient", {arguments_.slots, uint64_t(shapes_[p].gradient_floats())}, false);
    pupil.total = array<float>(name + ".total", {parameters}, false);
    pupil.norms = array<double>(name + ".norms", {blocks_for(parameters)}, false);
    pupil.tallies = array<double>(name + ".tallies", {arguments_.slots, tally_count}, false);
    pupil.sums = array<double>(name + ".sums", {tally_count}, false);
    pupil.slots = array<double>(
        name + ".slots", {std::max(blocks_for(pupil.seats), blocks_for(minibatch)), 6}, false);
    pupil.dials = array<float>(name + ".dials", {dial_count}, false);
    pupil.found = array<double>(name + ".found", {found_count}, false);
    auto* const schedules = reinterpret_cast<Schedule*>(
        array<uint8_t>(name + ".schedules", {dial_count, sizeof(Schedule)}, false));
    host_.write(schedules, policy.dials, sizeof policy.dials);
    pupil.schedules = schedules;
    pupil.scales_rewards = settings_.scales_rewards;
    pupil.scales_advantages = settings_.scales_advantages;
    pupil.most_reward = float(settings_.reward_bound);
    pupil.reward_factor = float(settings_.reward_factor);
}

void PolicyGradient::fill_policy(uint32_t p) {
    if (!arguments_.pupil[p].weights) return;
    const std::vector<float> weights =
        initial_weights(shapes_[p], settings_.policies[p], environment_.seed, p);
    host_.write(arguments_.pupil[p].weights, weights.data(), weights.size() * sizeof(float));
}

void PolicyGradient::compile() {
    std::vector<std::string> defines;
    if (settings_.emulates) defines.push_back("NACELLE_EMULATE");
    const uint32_t program =
        host_.program(program_text(settings_, group_rows_.size()), kernel_headers(), defines);
    const auto kernel = [&](const std::string& name) {
        return host_.kernel(program, "learn_" + name);
    };
    begin_ = kernel("begin");
    finish_ = kernel("finish");
    rollout_ = kernel("rollout");
    mark_ = kernel("mark");
    for (size_t g = 0; g < group_rows_.size(); ++g)
        watchers_.push_back({kernel("measure_observations_" + std::to_string(g)),
                             kernel("follow_observations_" + std::to_string(g))});
    for (size_t p = 0; p < settings_.policies.size(); ++p) {
        const std::string end = "_" + std::to_string(p);
        Kernels& k = kernels_.emplace_back();
        k.act = kernel("act" + end);
        if (has_network(p) && as_gpu()) k.prepare = kernel("prepare" + end);
        if (!learns(p)) continue;
        if (as_gpu()) k.land = kernel("land" + end);
        k.measure_returns = kernel("measure_returns" + end);
        k.scale_rewards = kernel("scale_rewards" + end);
        k.find_advantages = kernel("find_advantages" + end);
        k.sum_advantages = kernel("sum_advantages" + end);
        k.measure_minibatch = kernel("measure_minibatch" + end);
        k.scale_minibatch = kernel("scale_minibatch" + end);
        k.review = kernel("review" + end);
        k.gradient = kernel("gradient" + end);
        k.total = kernel("total" + end);
        k.decide = kernel("decide" + end);
        k.adam = kernel("adam" + end);
    }
    launch(kernel("enlist"), 1, nullptr);
}

void PolicyGradient::launch(const nacelle_kernel& kernel, uint64_t items, void* stream) {
    host_.launch(kernel, items, block, arguments_, stream);
}
void PolicyGradient::mark(uint32_t moment, void* stream) {
    arguments_.epoch = moment;
    launch(mark_, 1, stream);
}

void PolicyGradient::record(void* stream) {
    mark(iteration_began, stream);
    launch(begin_, 1, stream);
    prepare(stream);
    host_.launch_environments(rollout_, arguments_, stream);
    for (size_t p = 0; p < kernels_.size(); ++p)
        if (learns(p) && as_gpu()) launch(kernels_[p].land, arguments_.pupil[p].seats, stream);
    mark(rollout_ended, stream);
    for (size_t g = 0; g < watchers_.size(); ++g)
        launch(watchers_[g].measure, group_rows_[g], stream);
    for (size_t p = 0; p < kernels_.size(); ++p) {
        if (!learns(p)) continue;
        launch(kernels_[p].measure_returns, arguments_.pupil[p].seats, stream);
        launch(kernels_[p].scale_rewards, 1, stream);
        record_advantages(p, stream);
        record_update(p, stream);
    }
    for (size_t g = 0; g < watchers_.size(); ++g)
        launch(watchers_[g].follow, group_widths_[g], stream);
    launch(finish_, 1, stream);
    mark(update_ended, stream);
    host_.advance(settings_.horizon, stream);
}

void PolicyGradient::record_advantages(size_t p, void* stream) {
    launch(kernels_[p].find_advantages, arguments_.pupil[p].seats, stream);
    launch(kernels_[p].sum_advantages, 1, stream);
}

void PolicyGradient::record_update(size_t p, void* stream) {
    const Kernels& k = kernels_[p];
    const uint64_t samples = uint64_t(settings_.horizon) * arguments_.pupil[p].seats;
    const uint64_t parameters = uint64_t(shapes_[p].parameters());
    for (uint32_t epoch = 0; epoch < settings_.epochs; ++epoch) {
        arguments_.epoch = epoch;
        if (settings_.traced && epoch > 0) {
            launch(k.review, samples, stream);
            record_advantages(p, stream);
        }
        for (uint32_t m = 0; m < settings_.minibatches; ++m) {
            arguments_.minibatch = m;
            if (settings_.scales_advantages == 2) {
                const uint64_t count =
                    samples * (m + 1) / settings_.minibatches - samples * m / settings_.minibatches;
                launch(k.measure_minibatch, count, stream);
                launch(k.scale_minibatch, 1, stream);
            }
            launch(k.gradient, uint64_t(arguments_.slots) * block, stream);
            launch(k.total, parameters, stream);
            launch(k.decide, 1, stream);
            launch(k.adam, parameters, stream);
        }
    }
}

void PolicyGradient::prepare(void* stream) {
    for (size_t p = 0; p < kernels_.size(); ++p)
        if (has_network(p) && as_gpu())
            launch(kernels_[p].prepare, uint64_t(shapes_[p].parameters()), stream);
}

void PolicyGradient::act(bool greedy, void* stream) {
    arguments_.greedy = greedy;
    prepare(stream);
    for (size_t p = 0; p < kernels_.size(); ++p)
        launch(kernels_[p].act, arguments_.pupil[p].seats, stream);
}

void PolicyGradient::metrics(nacelle::plugin::Metrics& out) {
    for (size_t p = 0; p < kernels_.size(); ++p)
        if (learns(p))
            add_metrics(p, kernels_.size() > 1 ? settings_.policies[p].name + "." : "", out);
    uint64_t marks[mark_count];
    host_.read(marks, arguments_.marks, sizeof marks);
    const auto rate = [&](uint64_t from, uint64_t to) {
        return to > from ? double(steps_per_iteration()) * 1e9 / double(to - from) : 0;
    };
    out.add("rollout.steps_per_second", rate(marks[iteration_began], marks[rollout_ended]));
    out.add("update.steps_per_second", rate(marks[rollout_ended], marks[update_ended]));
}

void PolicyGradient::add_metrics(size_t p, const std::string& prefix,
                                 nacelle::plugin::Metrics& out) {
    const Pupil& pupil = arguments_.pupil[p];
    double sums[tally_count], found[found_count];
    float dials[dial_count];
    host_.read(sums, pupil.sums, sizeof sums);
    host_.read(found, pupil.found, sizeof found);
    host_.read(dials, pupil.dials, sizeof dials);
    const auto mean = [&](Tally tally) {
        return sums[weight] > 0 ? sums[tally] / sums[weight] : 0;
    };
    out.add(prefix + "loss.policy", mean(policy_loss));
    out.add(prefix + "loss.value", mean(value_loss));
    out.add(prefix + "entropy", mean(entropy));
    out.add(prefix + "kl", mean(kl));
    out.add(prefix + "clip_fraction", mean(clipped));
    out.add(prefix + "explained_variance", found[explained]);
    out.add(prefix + "gradient_norm", found[gradient_norm]);
    out.add(prefix + "updates", found[update_count]);
    out.add(prefix + "reward_scale", found[reward_scale]);
    out.add(prefix + "learning_rate", double(dials[learning_rate]));
}

}
