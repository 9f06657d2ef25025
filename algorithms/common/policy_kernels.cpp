#include "algorithms/common/policy_kernels.h"

#include "algorithms/common/headers.h"
#include "algorithms/common/schema_view.h"
#include "algorithms/common/spec_text.h"
#include "algorithms/common/tensor_fit.h"

namespace learn {

// One launch for all steps where that can be: a team's members meet the tensor cores between two steps, images are put
// together with the numbers before them, and layers that go through memory are launches of their own.
RolloutForm rollout_form_of(const Settings& settings, const nacelle_environment& environment) {
    const nacelle::Header& header = SchemaView(environment).header();
    if (settings.stepwise || header.has_image) return RolloutForm::steps;
    if (!environment.on_gpu && !settings.emulates) return RolloutForm::blocks;
    for (const PolicySettings& policy : settings.policies)
        if (policy.streamed()) return RolloutForm::steps;
    return header.is_team ? RolloutForm::steps : RolloutForm::warps;
}

PolicyKernels::PolicyKernels(nacelle::plugin::Host host, const nacelle_environment& environment,
                             const Settings& settings, const std::vector<NetworkShape>& shapes,
                             RolloutForm rollout_form)
    : host_(host),
      environment_(environment),
      settings_(settings),
      shapes_(shapes),
      rollout_form_(rollout_form),
      as_gpu_(environment.on_gpu || settings.emulates) {
    const SchemaView schema(environment);
    const nacelle::Header& header = schema.header();
    std::vector<std::string> defines;
    if (settings.emulates) defines.push_back("NACELLE_EMULATE");
    const ProgramTexts texts = program_texts(settings, shapes, schema, rollout_form, as_gpu_);
    const auto around_file = [&](const std::string& text) {
        return text.empty() ? ~0u : host_.program(text, kernel_headers(), defines);
    };
    const auto of_sizes = [&](const std::string& text) {
        return text.empty() ? ~0u : host_.program_of_sizes(text, kernel_headers(), defines);
    };
    Programs in{of_sizes(texts.update), around_file(texts.rollout), around_file(texts.play),
                of_sizes(texts.rest), of_sizes(texts.learning)};
    if (texts.learning.empty()) in.learning = in.rest;
    rollout_ = kernel(in.rollout, rollout_form == RolloutForm::steps ? "step" : "rollout");
    if (rollout_form == RolloutForm::warps) play_ = kernel(in.play, "play");
    enlist_ = kernel(in.rollout, "enlist");
    begin_ = kernel(in.rest, "begin");
    finish_ = kernel(in.rest, "finish");
    mark_ = kernel(in.rest, "mark");
    for (uint32_t g = 0; g < header.groups; ++g) {
        Watchers& watchers = watchers_.emplace_back();
        watchers.measure = kernel(in.rest, "measure_observations", g);
        watchers.follow = kernel(in.rest, "follow_observations", g);
        if (schema.image_elements(g))
            watchers.gather_images = kernel(in.rollout, "gather_images", g);
        watchers.rows = uint64_t(environment.envs) * header.group[g].count;
        watchers.width = schema.seen(g);
    }
    for (size_t p = 0; p < settings.policies.size(); ++p) find_policy(in, p);
}

void PolicyKernels::find_policy(const Programs& in, size_t p) {
    Kernels& k = kernels_.emplace_back();
    std::unique_ptr<StreamedPolicy>& streamed = streamed_.emplace_back();
    std::unique_ptr<LayeredUpdate>& layered = layered_.emplace_back();
    if (settings_.policies[p].wide_on_cpu && learns(p)) {
        layered = std::make_unique<LayeredUpdate>(host_, settings_, shapes_[p], uint32_t(p),
                                                  environment_.envs);
        layered->find_kernels([&](const std::string& name) { return kernel(in.update, name, p); },
                              settings_.traced);
    }
    if (as_gpu_ && settings_.policies[p].role != PolicySettings::Role::random)
        k.prepare = kernel(in.rest, "prepare", p);
    if (settings_.policies[p].streamed()) {
        streamed = std::make_unique<StreamedPolicy>(host_, settings_, shapes_[p], uint32_t(p),
                                                    environment_.envs);
        const auto find = [this, p](uint32_t program) {
            return [this, p, program](const std::string& name) { return kernel(program, name, p); };
        };
        streamed->find_kernels(find(in.rollout), find(in.rest), find(in.update));
    } else find_fused(in, p);
    if (!learns(p)) return;
    k.measure_returns = kernel(in.learning, "measure_returns", p);
    k.scale_rewards = kernel(in.learning, "scale_rewards", p);
    k.find_advantages = kernel(in.learning, "find_advantages", p);
    k.sum_advantages = kernel(in.learning, "sum_advantages", p);
    k.measure_minibatch = kernel(in.learning, "measure_minibatch", p);
    k.scale_minibatch = kernel(in.learning, "scale_minibatch", p);
    k.adam = kernel(in.learning, "adam", p);
}
void PolicyKernels::find_fused(const Programs& in, size_t p) {
    Kernels& k = kernels_[p];
    k.act = kernel(in.rest, "act", p);
    if (rollout_form_ == RolloutForm::steps) k.choose = kernel(in.rollout, "choose", p);
    if (!learns(p)) return;
    if (rollout_form_ != RolloutForm::warps)
        k.close_rollout = kernel(in.rollout, "close_rollout", p);
    k.total = kernel(in.learning, "total", p);
    if (!as_gpu_) k.decide = kernel(in.learning, "decide", p);
    if (on_tensor_cores(p) && !shapes_[p].shared)
        k.find_values = kernel(in.update, "find_values", p);
    if (layered_[p]) return;
    if (settings_.traced) k.review = kernel(in.update, "review", p);
    k.gradient = kernel(in.update, "gradient", p);
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
    if (rollout_form_ == RolloutForm::blocks) host_.launch_environments(rollout_, a, stream);
    if (rollout_form_ == RolloutForm::warps) launch_warps(rollout_, a, stream);
    for (a.step = 0; rollout_form_ == RolloutForm::steps && a.step < a.steps; ++a.step) {
        gather_images(a, stream);
        for (size_t p = 0; p < kernels_.size(); ++p) {
            if (streamed_[p]) streamed_[p]->choose(a, stream);
            else by_rows(kernels_[p].choose, p, a, stream);
        }
        host_.launch_environments(rollout_, a, stream);
    }
    if (rollout_form_ == RolloutForm::steps) gather_images(a, stream);
    for (size_t p = 0; p < kernels_.size(); ++p) {
        if (streamed_[p]) streamed_[p]->close_rollout(a, stream);
        if (kernels_[p].close_rollout.function) by_rows(kernels_[p].close_rollout, p, a, stream);
        find_values(a, p, stream);
    }
}
// On tensor cores the rows that were cut short in the step before follow as rows of their own.
void PolicyKernels::by_rows(const nacelle_kernel& kernel, size_t p, const Arguments& a,
                            void* stream) const {
    const uint64_t rows = uint64_t(a.policy[p].agents) * (on_tensor_cores(p) ? 2 : 1);
    launch(kernel, as_gpu_ ? items_for(p, rows) : environment_.envs, a, stream);
}
void PolicyKernels::gather_images(const Arguments& a, void* stream) const {
    for (const Watchers& watchers : watchers_)
        if (watchers.gather_images.function)
            launch(watchers.gather_images, watchers.rows * watchers.width, a, stream);
}
void PolicyKernels::find_values(const Arguments& a, size_t p, void* stream) const {
    if (kernels_[p].find_values.function)
        launch(kernels_[p].find_values,
               items_for(p, uint64_t(2 * a.steps + 1) * a.policy[p].agents), a, stream);
}

void PolicyKernels::observations(const Arguments& a, void* stream) const {
    for (const Watchers& watcher : watchers_)
        launch(watcher.measure, (a.steps * watcher.rows + obs_chunk - 1) / obs_chunk * block_items,
               a, stream);
}
void PolicyKernels::returns(const Arguments& a, size_t p, void* stream) const {
    launch(kernels_[p].measure_returns, a.policy[p].agents, a, stream);
    launch(kernels_[p].scale_rewards, block_items, a, stream);
}
void PolicyKernels::advantages(const Arguments& a, size_t p, void* stream) const {
    launch(kernels_[p].find_advantages, a.policy[p].agents, a, stream);
    launch(kernels_[p].sum_advantages, block_items, a, stream);
}
void PolicyKernels::review(const Arguments& a, size_t p, void* stream) const {
    if (streamed_[p]) streamed_[p]->review(a, stream);
    else if (layered_[p]) layered_[p]->review(a, stream);
    else {
        launch(kernels_[p].review, items_for(p, samples(a, p)), a, stream);
        find_values(a, p, stream);
    }
    advantages(a, p, stream);
}

void PolicyKernels::minibatch(const Arguments& a, size_t p, void* stream) const {
    const Kernels& k = kernels_[p];
    const uint64_t all = samples(a, p), parameters = uint64_t(shapes_[p].parameters());
    const uint64_t count =
        all * (a.minibatch + 1) / a.minibatches - all * a.minibatch / a.minibatches;
    if (settings_.scales_advantages == 2) {
        launch(k.measure_minibatch, count, a, stream);
        launch(k.scale_minibatch, block_items, a, stream);
    }
    if (streamed_[p]) {
        streamed_[p]->gradient(a, count, stream);
        launch(k.adam, parameters, a, stream);
        return;
    }
    if (layered_[p]) layered_[p]->gradient(a, count, stream);
    else gradient(a, p, stream);
    launch(k.total, as_gpu_ ? total_blocks(shapes_[p]) * block_items : parameters, a, stream);
    if (!as_gpu_) launch(k.decide, block_items, a, stream);
    launch(k.adam, parameters, a, stream);
}
// A block is a slot; where the value has a network of its own, so are as many blocks more.
void PolicyKernels::gradient(const Arguments& a, size_t p, void* stream) const {
    if (!on_tensor_cores(p)) {
        launch(kernels_[p].gradient, uint64_t(a.policy[p].parts) * block_items, a, stream);
        return;
    }
    const TensorFit fit = tensor_fit(settings_.policies[p], shapes_[p]);
    const uint64_t blocks = uint64_t(a.policy[p].parts) * (shapes_[p].shared ? 1 : 2);
    host_.launch(
        kernels_[p].gradient,
        {.threads = fit.threads, .items = blocks * fit.threads, .shared_bytes = fit.shared_bytes},
        a, stream);
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
    gather_images(a, stream);
    prepare(a, stream);
    for (size_t p = 0; p < kernels_.size(); ++p) {
        if (streamed_[p]) streamed_[p]->act(a, stream);
        else launch(kernels_[p].act, items_for(p, a.policy[p].agents), a, stream);
    }
}

}
