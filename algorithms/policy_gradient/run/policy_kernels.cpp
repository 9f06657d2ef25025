#include "algorithms/policy_gradient/run/policy_kernels.h"

namespace learn {

PolicyKernels::PolicyKernels(nacelle::plugin::Host host, const nacelle_environment& environment,
                             const Settings& settings, const std::vector<NetworkShape>& shapes,
                             const MakeExternal& external)
    : kernels_(host, settings, shapes, environment),
      sums_(host, settings, environment),
      groups_(SchemaView(environment).header().groups + (settings.overview ? 1 : 0)),
      streamed_(shapes.size()),
      layered_(shapes.size()),
      external_(shapes.size()) {
    for (size_t p = 0; p < shapes.size(); ++p) {
        if (policy(p).execution == Execution::external)
            external_[p] = external(host, settings, shapes[p], uint32_t(p));
        if (policy(p).is_streamed())
            streamed_[p] =
                std::make_unique<StreamedPolicy>(host, kernels_, settings, shapes[p], uint32_t(p));
        if (policy(p).layered && policy(p).learns)
            layered_[p] =
                std::make_unique<LayeredUpdate>(host, kernels_, settings, shapes[p], uint32_t(p));
    }
}

void PolicyKernels::make_sums(Arguments& a) {
    std::vector<uint64_t> floats;
    for (size_t p = 0; p < streamed_.size(); ++p)
        floats.push_back(streamed_[p] ? streamed_[p]->peer_room()
                                      : peer_floats(policy(p).slot_floats));
    sums_.make_arrays(a, kernels_.plan().policies, floats);
}

void PolicyKernels::enlist(const Arguments& a, void* stream) const {
    kernels_.launch("enlist", 0, a, stream);
    for (size_t p = 0; p < external_.size(); ++p)
        kernels_.launch("place_samples", p, a, stream, a.steps * policy(p).learners);
}
void PolicyKernels::begin_external(const Arguments& a) const {
    for (const auto& external : external_)
        if (external) external->begin(a);
}
void PolicyKernels::mark(Arguments& a, Moment moment, void* stream) const {
    a.epoch = moment;
    kernels_.launch("mark", 0, a, stream);
}
void PolicyKernels::begin(const Arguments& a, void* stream) const {
    kernels_.launch("begin", 0, a, stream);
    prepare(a, stream);
    // Ratings first: they go by what both pools have counted.
    constexpr KernelName names[] = {"rate_past", "keep_past", "prepare_past", "draw_past"};
    for (const KernelName name : names)
        for (size_t p = 0; p < streamed_.size(); ++p) kernels_.launch(name, p, a, stream);
}
void PolicyKernels::prepare(const Arguments& a, void* stream) const {
    for (size_t p = 0; p < streamed_.size(); ++p) kernels_.launch("prepare", p, a, stream);
}
void PolicyKernels::gather_images(const Arguments& a, void* stream) const {
    for (size_t g = 0; g < groups_; ++g) kernels_.launch("gather_images", g, a, stream);
}

void PolicyKernels::rollout(Arguments& a, void* stream) const {
    const Rollout rollout = kernels_.rollout();
    kernels_.launch("begin_overviews", groups_ - 1, a, stream);
    a.step = 0;
    if (rollout == Rollout::steps) roll_in_steps(a, stream);
    else kernels_.launch(rollout_kernel(rollout), 0, a, stream);
    for (size_t p = 0; p < streamed_.size(); ++p) {
        if (policy(p).is_critic) {
            find_values(a, p, stream);
            continue;
        }
        kernels_.launch("close_rollout", p, a, stream);
        kernels_.launch("find_values", p, a, stream);
        if (streamed_[p]) streamed_[p]->close_rollout(a, stream);
        if (!external_[p]) continue;
        kernels_.launch("see_step", p, a, stream);
        if (a.step > 0) external_[p]->value_ends(a, stream);
        external_[p]->close_rollout(a, stream);
    }
}

void PolicyKernels::roll_in_steps(Arguments& a, void* stream) const {
    for (; a.step < a.steps; ++a.step) {
        gather_images(a, stream);
        for (size_t p = 0; p < streamed_.size(); ++p) {
            kernels_.launch("choose", p, a, stream);
            kernels_.launch("choose_randomly", p, a, stream);
            if (streamed_[p] && !policy(p).is_critic) streamed_[p]->choose(a, stream);
            if (external_[p] && !policy(p).is_critic) choose_externally(a, p, stream);
        }
        kernels_.launch("step_once", 0, a, stream);
    }
    gather_images(a, stream);
}
void PolicyKernels::find_values(const Arguments& a, size_t critic, void* stream) const {
    kernels_.launch("find_values", critic, a, stream);
    kernels_.launch("find_own_values", critic, a, stream);
    if (streamed_[critic]) streamed_[critic]->find_values(a, stream);
    if (external_[critic]) external_[critic]->close_rollout(a, stream);
}
void PolicyKernels::choose_externally(const Arguments& a, size_t p, void* stream) const {
    kernels_.launch("see_step", p, a, stream);
    if (a.step > 0) external_[p]->value_ends(a, stream);
    kernels_.launch("recall", p, a, stream);
    external_[p]->forward(a, stream);
    kernels_.launch("choose_external", p, a, stream);
}

void PolicyKernels::observations(const Arguments& a, void* stream) const {
    for (size_t g = 0; g < groups_; ++g) {
        kernels_.launch("measure_observations", g, a, stream);
        kernels_.launch("sum_observations", g, a, stream);
    }
}
void PolicyKernels::returns(const Arguments& a, void* stream) const {
    kernels_.launch("measure_all_returns", 0, a, stream);
    for (size_t p = 0; p < streamed_.size(); ++p) {
        kernels_.launch("measure_returns", p, a, stream);
        kernels_.launch("scale_rewards", p, a, stream);
    }
    sums_.add_rollout(a, stream);
    for (size_t p = 0; p < streamed_.size(); ++p)
        kernels_.launch("scale_rewards_alike", p, a, stream);
    kernels_.launch("find_all_advantages", 0, a, stream);
    for (size_t p = 0; p < streamed_.size(); ++p) {
        kernels_.launch("find_advantages", p, a, stream);
        kernels_.launch("sum_advantages", p, a, stream);
    }
    sums_.add_advantages(a, stream);
    for (size_t p = 0; p < streamed_.size(); ++p)
        kernels_.launch("scale_advantages_alike", p, a, stream);
}
void PolicyKernels::review(const Arguments& a, size_t p, void* stream) const {
    kernels_.launch("review", p, a, stream);
    kernels_.launch("review_sequences", p, a, stream);
    kernels_.launch("find_values", p, a, stream);
    if (streamed_[p]) streamed_[p]->review(a, stream);
    if (layered_[p]) layered_[p]->review(a, stream);
    if (external_[p]) external_[p]->review(a, stream);
    kernels_.launch("find_own_advantages", p, a, stream);
    kernels_.launch("find_advantages", p, a, stream);
    kernels_.launch("sum_advantages", p, a, stream);
    sums_.add_advantages(a, p, stream);
    kernels_.launch("scale_advantages_alike", p, a, stream);
}

void PolicyKernels::minibatch(const Arguments& a, size_t p, void* stream) const {
    const uint64_t unit = policy(p).sequence, units = a.steps * policy(p).learners / unit;
    const uint64_t count =
        (units * (a.minibatch + 1) / a.minibatches - units * a.minibatch / a.minibatches) * unit;
    kernels_.launch("measure_minibatch", p, a, stream, count);
    kernels_.launch("scale_minibatch", p, a, stream);
    if (policy(p).scales_minibatches) sums_.add_advantages(a, p, stream);
    kernels_.launch("scale_minibatch_alike", p, a, stream);
    if (external_[p]) {
        kernels_.launch("number_minibatch", p, a, stream, count);
        external_[p]->update(a, count, stream);
        return;
    }
    kernels_.launch("gradient", p, a, stream);
    kernels_.launch("gradient_of_sequences", p, a, stream);
    kernels_.launch("gradient_warps", p, a, stream);
    if (layered_[p]) layered_[p]->gradient(a, count, stream);
    kernels_.launch("total", p, a, stream);
    if (streamed_[p]) streamed_[p]->gradient(a, count, stream);
    sums_.add_gradient(a, p, policy(p), stream);
    kernels_.launch("scale_total", p, a, stream, a.policy[p].sum_blocks);
    kernels_.launch("decide", p, a, stream);
    kernels_.launch("adam", p, a, stream);
}

void PolicyKernels::play(Arguments a, void* stream) const {
    prepare(a, stream);
    const bool steps = kernels_.is_drafted(Program::play);
    for (a.step = 0; steps && a.step < a.played.steps; ++a.step) {
        act_now(a, a.played.envs, stream);
        kernels_.launch("play_once", 0, a, stream);
    }
    kernels_.launch("play_warps", 0, a, stream);
    kernels_.launch("play_resident", 0, a, stream);
}

void PolicyKernels::hand_over_results(const Arguments& a, void* stream) const {
    for (size_t p = 0; p < streamed_.size(); ++p)
        kernels_.launch("hand_over_results", p, a, stream);
}
void PolicyKernels::finish(const Arguments& a, void* stream) const {
    for (size_t p = 0; p < streamed_.size(); ++p) kernels_.launch("take_results", p, a, stream);
    for (size_t g = 0; g < groups_; ++g) kernels_.launch("follow_observations", g, a, stream);
    kernels_.launch("finish", 0, a, stream);
}
void PolicyKernels::act(Arguments a, uint64_t envs, void* stream) const {
    a.step = 0;
    for (size_t p = 0; p < streamed_.size(); ++p) a.policy[p].remembered = a.policy[p].acting;
    gather_images(a, stream);
    prepare(a, stream);
    act_now(a, envs, stream);
}
void PolicyKernels::act_now(const Arguments& a, uint64_t envs, void* stream) const {
    for (size_t p = 0; p < streamed_.size(); ++p) {
        const uint64_t agents = policy(p).rows / kernels_.plan().run.envs * envs;
        kernels_.launch("act", p, a, stream, agents);
        kernels_.launch("act_randomly", p, a, stream, agents);
        if (streamed_[p] && !policy(p).is_critic) streamed_[p]->act(a, agents, stream);
        if (!external_[p] || policy(p).is_critic) continue;
        kernels_.launch("see_now", p, a, stream);
        kernels_.launch("recall", p, a, stream);
        external_[p]->forward(a, stream);
        kernels_.launch("act_external", p, a, stream);
    }
}

}
