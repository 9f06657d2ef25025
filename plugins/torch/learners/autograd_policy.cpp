#include "plugins/torch/learners/autograd_policy.h"

#include "algorithms/policy_gradient/plan/schema_view.h"
#include <ATen/core/grad_mode.h>

namespace torch_learn {

using at::Tensor;

AutogradPolicy::AutogradPolicy(nacelle::plugin::Host host, const learn::Settings& settings,
                               const learn::NetworkShape& shape, uint32_t number,
                               std::shared_ptr<Model> model, Gpu* gpu)
    : host_(host),
      gpu_(gpu),
      settings_(settings),
      policy_(settings.policies[number]),
      shape_(shape),
      environment_(host.environment()),
      tensors_(environment_.on_gpu),
      model_(host, policy_, std::move(model), tensors_),
      heads_(learn::SchemaView(environment_), policy_.group, policy_.squashed),
      steps_(settings.horizon) {}

void AutogradPolicy::begin(const learn::Arguments& a) {
    use_one_thread();
    if (gpu_) gpu_->finish();    // what the host has put on its stream
    const at::NoGradGuard no_gradient;
    const learn::PolicyState& state = a.policy[&policy_ - settings_.policies.data()];
    const learn::Memory& memory = a.memory[policy_.group];
    agents_ = state.agents;
    rows_ = int64_t(environment_.envs) *
            learn::SchemaView(environment_).header().group[policy_.group].count;
    mean_ = tensors_.of(memory.mean, {shape_.seen});
    scale_ = tensors_.of(memory.scale, {shape_.seen});
    if (shape_.encoder.codes) {
        codes_ = at::zeros({shape_.seen}, at::kBool);
        for (int64_t k = 0; k < shape_.seen; ++k) codes_[k].fill_(shape_.encoder.is_code(int(k)));
        codes_ = codes_.to(tensors_.device());
    }
    standing_ = tensors_.of(state.standing, {agents_, shape_.seen});
    outputs_ = tensors_.of(state.outputs, {agents_, shape_.outputs() + 1});
    keep(a);
    model_.begin(state, shape_.parameters());
    if (!model_.learns()) return;
    samples_ = tensors_.of(state.samples, {steps_ * agents_}).to(at::kLong);
    const int64_t width = model_.memory();
    begun_ = tensors_.of(state.begun, {steps_ / settings_.sequence * agents_, width});
    forgot_ = tensors_.of(state.forgot, {steps_ * agents_});
    if (gpu_) gpu_->finish();
}

void AutogradPolicy::keep(const learn::Arguments& a) {
    const learn::Memory& m = a.memory[policy_.group];
    const int64_t all = steps_ * rows_, seen = shape_.seen;
    kept_ = {.obs = tensors_.of(m.obs, {all, seen}),
             .mask = tensors_.of(m.mask, {all, shape_.choices}),
             .choice = tensors_.of(m.choice, {all, shape_.parts}),
             .log_probability = tensors_.of(m.log_probability, {all}),
             .value = tensors_.of(m.value, {all + rows_}),
             .reward = tensors_.of(m.reward, {all}),
             .flag = tensors_.of(m.flag, {all}),
             .advantage = tensors_.of(m.advantage, {all}),
             .target = tensors_.of(m.target, {all}),
             .final_obs = tensors_.of(m.final_obs, {all, seen}),
             .final_value = tensors_.of(m.final_value, {all}),
             .ratio = tensors_.of(m.ratio, {all})};
}

Tensor AutogradPolicy::seen_of(const Tensor& rows) const {
    const Tensor seen = normal(rows, mean_, scale_);
    return codes_.defined() ? at::where(codes_, rows, seen) : seen;
}

void AutogradPolicy::forward(const learn::Arguments& a, void*) {
    const at::NoGradGuard no_gradient;
    const learn::PolicyState& state = a.policy[&policy_ - settings_.policies.data()];
    Tensor memory = tensors_.of(state.remembered, {agents_, model_.memory()}), next = memory;
    if (a.step == 0) model_.follow_weights();    // a checkpoint may have been loaded
    const Tensor out = model_.forward(seen_of(standing_), next);
    outputs_.narrow(1, 0, out.size(1)).copy_(out);
    if (memory.defined()) memory.copy_(next);
}

void AutogradPolicy::value_ends(const learn::Arguments& a, void*) {
    if (!finds_values() || model_.memory() == 0) return;
    const at::NoGradGuard no_gradient;
    const learn::PolicyState& state = a.policy[&policy_ - settings_.policies.data()];
    const Tensor at = samples_.narrow(0, (int64_t(a.step) - 1) * agents_, agents_);
    Tensor memory = tensors_.of(state.remembered, {agents_, model_.memory()});
    const Tensor out = model_.forward(seen_of(kept_.final_obs.index_select(0, at)), memory);
    kept_.final_value.index_copy_(0, at, value_of(out));
}

void AutogradPolicy::close_rollout(const learn::Arguments& a, void*) {
    if (!finds_values()) return;
    const at::NoGradGuard no_gradient;
    const learn::PolicyState& state = a.policy[&policy_ - settings_.policies.data()];
    Tensor memory = tensors_.of(state.remembered, {agents_, model_.memory()});
    if (memory.defined()) {
        // A row that is about to begin an episode remembers nothing; its value is asked for by nobody.
        memory = memory.clone();
    }
    const Tensor row = samples_.narrow(0, 0, agents_);
    kept_.value.narrow(0, steps_ * rows_, rows_)
        .index_copy_(0, row, value_of(model_.forward(seen_of(standing_), memory)));
    if (model_.memory()) return;
    const Tensor is_cut = cut_short(kept_.flag.index_select(0, samples_));
    Tensor none;
    if (tensors_.on_gpu()) {    // of all, since how many there are would have to be waited for
        const Tensor found =
            value_of(model_.forward(seen_of(kept_.final_obs.index_select(0, samples_)), none));
        const Tensor kept = kept_.final_value.index_select(0, samples_);
        kept_.final_value.index_copy_(0, samples_, at::where(is_cut, found, kept));
        return;
    }
    const Tensor at = samples_.index_select(0, is_cut.nonzero().squeeze(1));
    if (at.numel() == 0) return;
    kept_.final_value.index_copy_(
        0, at, value_of(model_.forward(seen_of(kept_.final_obs.index_select(0, at)), none)));
}

Tensor AutogradPolicy::outputs_of(const Tensor& samples) {
    const Tensor at = samples_.index_select(0, samples);
    const Tensor rows = seen_of(kept_.obs.index_select(0, at));
    Tensor memory;
    if (model_.memory() == 0) return model_.forward(rows, memory);
    // Sequences lie one behind the other; each step takes all of them.
    const int64_t length = settings_.sequence, sequences = samples.numel() / length;
    const Tensor first = samples.view({sequences, length}).select(1, 0);
    const Tensor chunk = first.floor_divide(agents_ * length);
    memory = begun_.index_select(0, chunk * agents_ + first.remainder(agents_));
    const Tensor forgets =
        forgot_.index_select(0, samples).view({sequences, length, 1}).to(at::kFloat);
    const Tensor steps = rows.view({sequences, length, -1});
    std::vector<Tensor> out;
    for (int64_t t = 0; t < length; ++t) {
        memory = memory * (1 - forgets.select(1, t));
        out.push_back(model_.forward(steps.select(1, t), memory));
    }
    return at::stack(out, 1).flatten(0, 1);
}

void AutogradPolicy::review(const learn::Arguments&, void*) {
    const at::NoGradGuard no_gradient;
    Tensor samples = at::arange(steps_ * agents_, samples_.options());
    if (model_.memory())    // by sequences, as outputs_of() takes them
        samples = samples.view({-1, settings_.sequence, agents_}).transpose(1, 2).flatten();
    const Tensor out = outputs_of(samples), at = samples_.index_select(0, samples);
    const Tensor mask = kept_.mask.defined() ? kept_.mask.index_select(0, at) : Tensor();
    const Tensor now = heads_.judge(out, mask, kept_.choice.index_select(0, at)).log_probability;
    const Tensor change = now - kept_.log_probability.index_select(0, at);
    kept_.ratio.index_copy_(0, at, change.clamp(-20, 20).exp());
    if (finds_values()) kept_.value.index_copy_(0, at, value_of(out));
}

Tensor AutogradPolicy::loss(const Tensor& at, const Tensor& out, Tensor& tally) const {
    const auto of = [&](const Tensor& kept) { return kept.index_select(0, at); };
    const Tensor mask = kept_.mask.defined() ? of(kept_.mask) : Tensor();
    const Heads::Judged now = heads_.judge(out, mask, of(kept_.choice));
    const Optimiser& o = model_.optimiser();
    const Tensor advantage = (of(kept_.advantage) - o.found(learn::advantage_mean).to(at::kFloat)) *
                             o.found(learn::advantage_scale).to(at::kFloat);
    const Tensor counts = counting(of(kept_.flag));
    const Tensor change = (now.log_probability - of(kept_.log_probability)).clamp(-20, 20),
                 ratio = change.exp();
    Tensor policy = -now.log_probability * advantage, clipped = at::zeros_like(ratio);
    if (settings_.clips) {
        const Tensor bound = o.dial(learn::clip);
        const Tensor held = at::minimum(at::maximum(ratio, 1 - bound), 1 + bound);
        // Where both are equal the slope is that of the free one, as in the kernels.
        const Tensor free = ratio * advantage, bounded = (held * advantage).detach();
        policy = -at::where(free.le(bounded), free, bounded);
        clipped = held.ne(ratio);
    }
    Tensor value_loss = at::zeros_like(ratio);
    if (finds_values())
        value_loss = loss_of_values(value_of(out), of(kept_.value), of(kept_.target),
                                    o.dial(learn::value_clip));
    const Tensor whole = policy + o.dial(learn::value_weight) * value_loss -
                         o.dial(learn::entropy_weight) * now.entropy;
    const Tensor kl = change.exp() - 1 - change;
    tally = (at::stack({at::ones_like(counts), policy, value_loss, now.entropy, kl,
                        clipped.to(at::kFloat)}) *
             counts)
                .detach()
                .to(at::kDouble)
                .sum(1);
    return (whole * counts).sum() / counts.sum().clamp_min(1);
}

void AutogradPolicy::update(const learn::Arguments& a, uint64_t count, void* stream) {
    const learn::PolicyState& state = a.policy[&policy_ - settings_.policies.data()];
    const Tensor samples = tensors_.of(state.minibatch, {int64_t(count)}).to(at::kLong);
    Tensor tally;
    const Tensor whole = loss(samples_.index_select(0, samples), outputs_of(samples), tally);
    model_.step(whole, tally, stream);
}

}
