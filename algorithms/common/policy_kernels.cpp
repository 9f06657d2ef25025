#include "algorithms/common/policy_kernels.h"

#include "algorithms/common/headers.h"
#include "algorithms/common/schema_view.h"
#include "algorithms/common/spec_text.h"
#include "algorithms/common/tensor_fit.h"

namespace learn {

// One launch for all steps where that can be: a team's members meet the tensor cores between two steps,
// and images are put together with the numbers before them.
Flight flight_of(const Settings& settings, const nacelle_environment& environment) {
    if (settings.stepwise || SchemaView(environment).header().has_image) return Flight::steps;
    bool tensor = false;
    for (const PolicySettings& policy : settings.policies) tensor |= policy.on_tensor_cores();
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
    const SchemaView schema(environment);
    const nacelle::Header& header = schema.header();
    std::vector<std::string> defines;
    if (settings.emulates) defines.push_back("NACELLE_EMULATE");
    const ProgramTexts texts = program_texts(settings, schema, flight, as_gpu_);
    const auto program = [&](const std::string& text) {
        return text.empty() ? ~0u : host_.program(text, kernel_headers(), defines);
    };
    Programs in{program(texts.update), program(texts.rollout), program(texts.rest),
                program(texts.learning)};
    if (texts.learning.empty()) in.learning = in.rest;
    rollout_ = kernel(in.rollout, flight == Flight::steps ? "step" : "rollout");
    if (flight == Flight::warps) play_ = kernel(in.rest, "play");
    enlist_ = kernel(in.rest, "enlist");
    begin_ = kernel(in.rest, "begin");
    finish_ = kernel(in.rest, "finish");
    mark_ = kernel(in.rest, "mark");
    for (uint32_t g = 0; g < header.groups; ++g) {
        Watchers& watchers = watchers_.emplace_back();
        watchers.measure = kernel(in.rest, "measure_observations_" + std::to_string(g));
        watchers.follow = kernel(in.rest, "follow_observations_" + std::to_string(g));
        if (schema.image_elements(g)) watchers.see = kernel(in.rest, "see_" + std::to_string(g));
        watchers.rows = uint64_t(environment.envs) * header.group[g].count;
        watchers.width = schema.seen(g);
    }
    for (size_t p = 0; p < settings.policies.size(); ++p) find_policy(in, p);
}

void PolicyKernels::find_policy(const Programs& in, size_t p) {
    const auto of = [&](uint32_t program, const std::string& name) {
        return kernel(program, name + "_" + std::to_string(p));
    };
    Kernels& k = kernels_.emplace_back();
    k.act = of(in.rest, "act");
    if (flight_ == Flight::steps) k.choose = of(in.rollout, "choose");
    if (as_gpu_ && settings_.policies[p].role != PolicySettings::Role::random)
        k.prepare = of(in.rest, "prepare");
    if (!learns(p)) return;
    if (flight_ != Flight::warps) k.land = of(in.rollout, "land");
    k.measure_returns = of(in.learning, "measure_returns");
    k.scale_rewards = of(in.learning, "scale_rewards");
    k.find_advantages = of(in.learning, "find_advantages");
    k.sum_advantages = of(in.learning, "sum_advantages");
    k.measure_minibatch = of(in.learning, "measure_minibatch");
    k.scale_minibatch = of(in.learning, "scale_minibatch");
    k.total = of(in.learning, "total");
    if (!as_gpu_) k.decide = of(in.learning, "decide");
    k.adam = of(in.learning, "adam");
    if (on_tensor_cores(p) && !shapes_[p].shared) k.appraise = of(in.update, "appraise");
    if (settings_.traced) k.review = of(in.update, "review");
    k.gradient = of(in.update, "gradient");
    if (settings_.policies[p].staged) k.weights = of(in.update, "weights");
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
    if (flight_ == Flight::warps) launch_warps(rollout_, a, stream);
    for (a.step = 0; flight_ == Flight::steps && a.step < a.steps; ++a.step) {
        see(a, stream);
        for (size_t p = 0; p < kernels_.size(); ++p) {
            // On tensor cores those that were cut short in the step before follow as rows of their own.
            const uint64_t rows = uint64_t(a.pupil[p].seats) * (on_tensor_cores(p) ? 2 : 1);
            launch(kernels_[p].choose, as_gpu_ ? items_for(p, rows) : environment_.envs, a, stream);
        }
        host_.launch_environments(rollout_, a, stream);
    }
    if (flight_ == Flight::steps) see(a, stream);
    for (size_t p = 0; p < kernels_.size(); ++p) {
        const uint64_t rows = uint64_t(a.pupil[p].seats) * (on_tensor_cores(p) ? 2 : 1);
        if (kernels_[p].land.function)
            launch(kernels_[p].land, as_gpu_ ? items_for(p, rows) : environment_.envs, a, stream);
        appraise(a, p, stream);
    }
}
void PolicyKernels::see(const Arguments& a, void* stream) const {
    for (const Watchers& watchers : watchers_)
        if (watchers.see.function) launch(watchers.see, watchers.rows * watchers.width, a, stream);
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
    launch(k.total, as_gpu_ ? total_blocks(shapes_[p]) * block_items : parameters, a, stream);
    if (!as_gpu_) launch(k.decide, block_items, a, stream);
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
        host_.launch(
            kernel,
            {.threads = fit.threads, .items = count * fit.threads, .shared_bytes = shared_bytes}, a,
            stream);
    };
    blocks(kernels_[p].gradient, parts * (shapes_[p].shared ? 1 : 2), fit.shared_bytes);
    if (fit.staged) blocks(kernels_[p].weights, parts * fit.weight_pieces, TensorFit::piece_bytes);
}

void PolicyKernels::play(const Arguments& a, void* stream) const {
    prepare(a, stream);
    launch_warps(play_, a, stream);
}

void PolicyKernels::finish(const Arguments& a, void* stream) const {
    for (const Watchers& watcher : watchers_)
        launch(watcher.follow, watcher.width * block_items, a, stream);
    launch(finish_, 1, a, stream);
}
void PolicyKernels::act(Arguments& a, void* stream) const {
    a.step = 0;
    see(a, stream);
    prepare(a, stream);
    for (size_t p = 0; p < kernels_.size(); ++p)
        launch(kernels_[p].act, items_for(p, a.pupil[p].seats), a, stream);
}

}
