#include "algorithms/common/policy_kernels.h"

#include "algorithms/common/headers.h"
#include "algorithms/common/schema_view.h"
#include "algorithms/common/spec_text.h"
#include "algorithms/common/tensor_fit.h"

namespace learn {

// One launch for all steps where that can be: a team's members meet the tensor cores between two steps.
Flight flight_of(const Settings& settings, const nacelle_environment& environment) {
    if (settings.stepwise) return Flight::steps;
    bool tensor = false;
    for (const PolicySettings& policy : settings.policies) tensor |= policy.bf16;
    if (!tensor) return Flight::threads;
    return SchemaView(environment).header().is_team ? Flight::steps : Flight::warps;
}

PolicyKernels::PolicyKernels(nacelle::plugin::Host host, const nacelle_environment& environment,
                             const Settings& settings, const std::vector<NetworkShape>& shapes,
                             Flight flight)
    : host_(host),
      environment_(environment),
      settings_(settings),
      shapes_(shapes),
      flight_(flight),
      as_gpu_(environment.on_gpu || settings.emulates) {
    const nacelle::Header& header = SchemaView(environment).header();
    std::vector<std::string> defines;
    if (settings.emulates) defines.push_back("NACELLE_EMULATE");
    const uint32_t program = host_.program(program_text(settings, header.groups, flight, as_gpu_),
                                           kernel_headers(), defines);
    const auto kernel = [&](const std::string& name) {
        return host_.kernel(program, "learn_" + name);
    };
    enlist_ = kernel("enlist");
    begin_ = kernel("begin");
    finish_ = kernel("finish");
    mark_ = kernel("mark");
    rollout_ = kernel(flight == Flight::steps ? "step" : "rollout");
    for (uint32_t g = 0; g < header.groups; ++g)
        watchers_.push_back({kernel("measure_observations_" + std::to_string(g)),
                             kernel("follow_observations_" + std::to_string(g)),
                             uint64_t(environment.envs) * header.group[g].count,
                             header.group[g].obs_width});
    for (size_t p = 0; p < settings.policies.size(); ++p) find_policy(program, p);
}

void PolicyKernels::find_policy(uint32_t program, size_t p) {
    const auto kernel = [&](const std::string& name) {
        return host_.kernel(program, "learn_" + name + "_" + std::to_string(p));
    };
    Kernels& k = kernels_.emplace_back();
    k.act = kernel("act");
    if (flight_ == Flight::steps) k.choose = kernel("choose");
    if (as_gpu_ && settings_.policies[p].role != PolicySettings::Role::random)
        k.prepare = kernel("prepare");
    if (!learns(p)) return;
    if (flight_ != Flight::warps) k.land = kernel("land");
    if (on_tensor_cores(p) && !shapes_[p].shared) k.appraise = kernel("appraise");
    k.measure_returns = kernel("measure_returns");
    k.scale_rewards = kernel("scale_rewards");
    k.find_advantages = kernel("find_advantages");
    k.sum_advantages = kernel("sum_advantages");
    k.measure_minibatch = kernel("measure_minibatch");
    k.scale_minibatch = kernel("scale_minibatch");
    if (settings_.traced) k.review = kernel("review");
    k.gradient = kernel("gradient");
    if (settings_.policies[p].staged) k.weights = kernel("weights");
    k.total = kernel("total");
    k.decide = kernel("decide");
    k.adam = kernel("adam");
}

void PolicyKernels::mark(Arguments& a, Moment moment, void* stream) const {
    a.epoch = moment;
    launch(mark_, 1, a, stream);
}
void PolicyKernels::begin(const Arguments& a, void* stream) const {
    launch(begin_, 1, a, stream);
    prepare(a, stream);
}
void PolicyKernels::prepare(const Arguments& a, void* stream) const {
    for (size_t p = 0; p < kernels_.size(); ++p)
        if (kernels_[p].prepare.function)
            launch(kernels_[p].prepare, uint64_t(shapes_[p].parameters()), a, stream);
}

void PolicyKernels::rollout(Arguments& a, void* stream) const {
    if (flight_ == Flight::threads) host_.launch_environments(rollout_, a, stream);
    if (flight_ == Flight::warps)
        host_.launch(rollout_, (uint64_t(environment_.envs) + 15) / 16 * 32, 64, a, stream);
    for (a.step = 0; flight_ == Flight::steps && a.step < a.steps; ++a.step) {
        for (size_t p = 0; p < kernels_.size(); ++p) {
            // On tensor cores those that were cut short in the step before follow as rows of their own.
            const uint64_t rows = uint64_t(a.pupil[p].seats) * (on_tensor_cores(p) ? 2 : 1);
            launch(kernels_[p].choose, as_gpu_ ? items_for(p, rows) : environment_.envs, a, stream);
        }
        host_.launch_environments(rollout_, a, stream);
    }
    for (size_t p = 0; p < kernels_.size(); ++p) {
        const uint64_t rows = uint64_t(a.pupil[p].seats) * (on_tensor_cores(p) ? 2 : 1);
        if (kernels_[p].land.function)
            launch(kernels_[p].land, as_gpu_ ? items_for(p, rows) : environment_.envs, a, stream);
        appraise(a, p, stream);
    }
}
void PolicyKernels::appraise(const Arguments& a, size_t p, void* stream) const {
    if (kernels_[p].appraise.function)
        launch(kernels_[p].appraise, items_for(p, uint64_t(2 * a.steps + 1) * a.pupil[p].seats), a,
               stream);
}

void PolicyKernels::observations(const Arguments& a, void* stream) const {
    for (const Watchers& watcher : watchers_)
        launch(watcher.measure, (a.steps * watcher.rows + obs_chunk - 1) / obs_chunk * block_items,
               a, stream);
}
void PolicyKernels::returns(const Arguments& a, size_t p, void* stream) const {
    launch(kernels_[p].measure_returns, a.pupil[p].seats, a, stream);
    launch(kernels_[p].scale_rewards, block_items, a, stream);
}
void PolicyKernels::advantages(const Arguments& a, size_t p, void* stream) const {
    launch(kernels_[p].find_advantages, a.pupil[p].seats, a, stream);
    launch(kernels_[p].sum_advantages, block_items, a, stream);
}
void PolicyKernels::review(const Arguments& a, size_t p, void* stream) const {
    launch(kernels_[p].review, items_for(p, samples(a, p)), a, stream);
    appraise(a, p, stream);
    advantages(a, p, stream);
}

void PolicyKernels::minibatch(const Arguments& a, size_t p, void* stream) const {
    const Kernels& k = kernels_[p];
    const uint64_t all = samples(a, p), parameters = uint64_t(shapes_[p].parameters());
    if (settings_.scales_advantages == 2) {
        const uint64_t count =
            all * (a.minibatch + 1) / a.minibatches - all * a.minibatch / a.minibatches;
        launch(k.measure_minibatch, count, a, stream);
        launch(k.scale_minibatch, block_items, a, stream);
    }
    gradient(a, p, stream);
    launch(k.total, as_gpu_ ? sharers * parameters : parameters, a, stream);
    launch(k.decide, block_items, a, stream);
    launch(k.adam, parameters, a, stream);
}
// A block is a slot; where the value has a network of its own, so are as many blocks more.
void PolicyKernels::gradient(const Arguments& a, size_t p, void* stream) const {
    if (!on_tensor_cores(p)) {
        launch(kernels_[p].gradient, uint64_t(a.pupil[p].parts) * block_items, a, stream);
        return;
    }
    const TensorFit fit = tensor_fit(settings_.policies[p], shapes_[p]);
    const uint64_t parts = a.pupil[p].parts;
    const auto blocks = [&](const nacelle_kernel& kernel, uint64_t count, uint32_t shared_bytes) {
        host_.launch(kernel,
                     {.size = sizeof(nacelle_launch),
                      .threads = fit.threads,
                      .items_per_block = fit.threads,
                      .shared_bytes = shared_bytes,
                      .items = count * fit.threads,
                      .cooperative = 0},
                     a, stream);
    };
    blocks(kernels_[p].gradient, parts * (shapes_[p].shared ? 1 : 2), fit.shared_bytes);
    if (fit.staged) blocks(kernels_[p].weights, parts * fit.weight_tiles, 0);
}

void PolicyKernels::finish(const Arguments& a, void* stream) const {
    for (const Watchers& watcher : watchers_)
        launch(watcher.follow, watcher.width * block_items, a, stream);
    launch(finish_, 1, a, stream);
}
void PolicyKernels::act(const Arguments& a, void* stream) const {
    prepare(a, stream);
    for (size_t p = 0; p < kernels_.size(); ++p)
        launch(kernels_[p].act, items_for(p, a.pupil[p].seats), a, stream);
}

}
