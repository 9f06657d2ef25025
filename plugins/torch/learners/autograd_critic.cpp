#include "plugins/torch/learners/autograd_critic.h"

#include "algorithms/policy_gradient/plan/schema_view.h"
#include <ATen/core/grad_mode.h>

namespace torch_learn {

using at::Tensor;

AutogradCritic::AutogradCritic(nacelle::plugin::Host host, const learn::Settings& settings,
                               const learn::NetworkShape& shape, uint32_t number, Gpu* gpu)
    : host_(host),
      gpu_(gpu),
      critic_(settings.policies[number]),
      shape_(shape),
      number_(number),
      environment_(host.environment()),
      tensors_(environment_.on_gpu),
      model_(host, critic_, make_network(shape, critic_), tensors_),
      steps_(settings.horizon) {}

void AutogradCritic::begin(const learn::Arguments& a) {
    use_one_thread();
    if (gpu_) gpu_->finish();    // what the host has put on its stream
    const at::NoGradGuard no_gradient;
    const learn::PolicyState& state = a.policy[number_];
    const learn::Memory& m = a.memory[critic_.group];
    const learn::SchemaView schema(environment_);
    const int64_t envs = environment_.envs, each = schema.seen(critic_.group);
    agents_ = state.agents;
    in_group_ = schema.header().group[critic_.group].count;
    rows_ = envs * in_group_;
    const int64_t all = steps_ * rows_;
    observed_ = {.obs = tensors_.of(m.obs, {(steps_ + 1) * envs, in_group_, each}),
                 .final_obs = tensors_.of(m.final_obs, {steps_ * envs, in_group_, each}),
                 .mean = tensors_.of(m.mean, {each}),
                 .scale = tensors_.of(m.scale, {each})};
    if (const int64_t width = critic_.critic.numbers) {
        learn::Overviews kept;
        host_.read(&kept, a.overviews, sizeof kept);
        overview_ = {.obs = tensors_.of(kept.obs, {(steps_ + 1) * envs, width}),
                     .final_obs = tensors_.of(kept.final_obs, {steps_ * envs, width}),
                     .mean = tensors_.of(kept.mean, {width}),
                     .scale = tensors_.of(kept.scale, {width})};
    }
    if (int64_t(critic_.agents) != in_group_)
        members_ = tensors_.of(const_cast<int32_t*>(state.agent_ids), {int64_t(critic_.agents)})
                       .to(at::kLong);
    flag_ = tensors_.of(m.flag, {all});
    value_ = tensors_.of(m.value, {all + rows_});
    final_value_ = tensors_.of(m.final_value, {all});
    target_ = tensors_.of(m.target, {all});
    samples_ = tensors_.of(state.samples, {steps_ * agents_}).to(at::kLong);
    all_ = at::cat({samples_, samples_.narrow(0, 0, agents_) + all});    // and where agents stand
    model_.begin(state, shape_.parameters());
    if (gpu_) gpu_->finish();
}

Tensor AutogradCritic::rows_at(const Tensor& places, bool final) const {
    const Tensor env = places.floor_divide(in_group_);    // of all steps
    std::vector<Tensor> parts;
    if (critic_.critic.numbers)
        parts.push_back(normal((final ? overview_.final_obs : overview_.obs).index_select(0, env),
                               overview_.mean, overview_.scale));
    const auto observed = [&](const Tensor& rows, const Tensor& flags) {
        const Tensor seen = normal(rows, observed_.mean, observed_.scale);
        // Of an agent whose episode had ended before, nothing is known: that is the mean.
        return final ? at::where(cut_short(flags).unsqueeze(-1), seen, at::zeros_like(seen)) : seen;
    };
    const Tensor& from = final ? observed_.final_obs : observed_.obs;
    if (critic_.critic.team) {
        Tensor rows = from.index_select(0, env), flags;
        if (final) flags = flag_.view({-1, in_group_}).index_select(0, env);
        if (members_.defined()) {
            rows = rows.index_select(1, members_);
            if (final) flags = flags.index_select(1, members_);
        }
        parts.push_back(observed(rows, flags).flatten(1));
    }
    if (critic_.critic.own)
        parts.push_back(observed(from.flatten(0, 1).index_select(0, places),
                                 final ? flag_.index_select(0, places) : Tensor()));
    return parts.size() > 1 ? at::cat(parts, 1) : parts[0];
}

Tensor AutogradCritic::value_at(const Tensor& places, bool final) {
    Tensor none;
    return model_.forward(rows_at(places, final), none).select(1, 0);
}

void AutogradCritic::close_rollout(const learn::Arguments&, void*) {
    constexpr int64_t at_once = 1 << 17;    // rows: what they take of memory is a layer's outputs
    const at::NoGradGuard no_gradient;
    model_.follow_weights();    // a checkpoint may have been loaded
    for (const Tensor& places : all_.split(at_once))
        value_.index_copy_(0, places, value_at(places, false));
    for (const Tensor& places : samples_.split(at_once)) {
        const Tensor is_cut = cut_short(flag_.index_select(0, places));
        if (tensors_.on_gpu()) {    // of all, since how many there are would have to be waited for
            const Tensor kept = final_value_.index_select(0, places);
            final_value_.index_copy_(0, places, at::where(is_cut, value_at(places, true), kept));
            continue;
        }
        const Tensor at = places.index_select(0, is_cut.nonzero().squeeze(1));
        if (at.numel()) final_value_.index_copy_(0, at, value_at(at, true));
    }
}

void AutogradCritic::update(const learn::Arguments& a, uint64_t count, void* stream) {
    const Tensor samples = tensors_.of(a.policy[number_].minibatch, {int64_t(count)}).to(at::kLong);
    const Tensor at = samples_.index_select(0, samples);
    const Optimiser& o = model_.optimiser();
    const Tensor counts = counting(flag_.index_select(0, at));
    const Tensor loss = loss_of_values(value_at(at, false), value_.index_select(0, at),
                                       target_.index_select(0, at), o.dial(learn::value_clip));
    const Tensor none = at::zeros_like(counts);
    const Tensor tally = (at::stack({at::ones_like(counts), none, loss, none, none, none}) * counts)
                             .detach()
                             .to(at::kDouble)
                             .sum(1);
    const Tensor whole = o.dial(learn::value_weight) * (loss * counts).sum();
    model_.step(whole / counts.sum().clamp_min(1), tally, stream);
}

}
