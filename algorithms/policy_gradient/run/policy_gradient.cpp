#include "algorithms/policy_gradient/run/policy_gradient.h"

#include "algorithms/policy_gradient/plan/policies_text.h"
#include "algorithms/policy_gradient/plan/schema_view.h"

#include <algorithm>
#include <utility>

namespace learn {

PolicyGradient::PolicyGradient(const Algorithm& algorithm, nacelle::plugin::Host host,
                               std::string_view config, const MakeExternal& external,
                               const DescribeOwn& describe)
    : host_(host),
      environment_(host.environment()),
      settings_(read_settings(algorithm, config, environment_, host.ranks(), describe)) {
    const nacelle::Header& header = SchemaView(environment_).header();
    for (const PolicySettings& policy : settings_.policies)
        shapes_.emplace_back(policy, environment_);
    policies_ = policies_text(settings_, shapes_, SchemaView(environment_));
    // First: arrays are there once the environment is compiled, and programs compile beside it.
    kernels_ = std::make_unique<PolicyKernels>(host_, environment_, settings_, shapes_, external);
    arguments_.steps = settings_.horizon;
    arguments_.epochs = settings_.epochs;
    arguments_.minibatches = settings_.minibatches;
    arguments_.sequence = settings_.sequence;
    make_counters();
    for (uint32_t g = 0; g < header.groups; ++g) make_group(g);
    make_overviews();
    for (uint32_t p = 0; p < settings_.policies.size(); ++p) make_policy(p);
    for (uint32_t p = 0; p < settings_.policies.size(); ++p) fill_policy(p);
    kernels_->make_sums(arguments_);
    pools_.make_arrays(arguments_, shapes_, environment_);
    kernels_->enlist(arguments_, nullptr);
    kernels_->begin_external(arguments_);
}

void PolicyGradient::record(void* stream) {
    Arguments& a = arguments_;
    kernels_->look_again();
    kernels_->mark(a, iteration_began, stream);
    // It is recorded again after a save, which may have changed who follows which where a group has several policies.
    const bool again = std::exchange(recorded_, true);
    if (again && settings_.acting() > SchemaView(environment_).header().groups)
        kernels_->enlist(a, stream);
    kernels_->begin(a, stream);
    kernels_->rollout(a, stream);
    kernels_->mark(a, rollout_ended, stream);
    kernels_->observations(a, stream);
    a.epoch = 0;    // nothing has been reviewed in this iteration: ratios are 1
    kernels_->returns(a, stream);
    for (size_t p = 0; p < settings_.acting(); ++p)
        if (learns(p)) record_update(p, stream);
    kernels_->hand_over_results(a, stream);
    pools_.add_up_ranks(stream);
    kernels_->finish(a, stream);
    kernels_->mark(a, update_ended, stream);
    host_.advance(settings_.horizon, stream);
}

size_t PolicyGradient::critic_of(size_t p) const {
    size_t c = settings_.acting();
    while (c < settings_.policies.size() && settings_.policies[c].critic_of != int(p)) ++c;
    return c;
}
void PolicyGradient::record_update(size_t p, void* stream) {
    Arguments& a = arguments_;
    const size_t critic = critic_of(p);
    const bool has_critic = critic < shapes_.size();
    for (a.epoch = 0; a.epoch < settings_.epochs; ++a.epoch) {
        if (settings_.traced && a.epoch > 0) {
            if (has_critic) kernels_->find_values(a, critic, stream);
            kernels_->review(a, p, stream);
        }
        for (a.minibatch = 0; a.minibatch < settings_.minibatches; ++a.minibatch) {
            kernels_->minibatch(a, p, stream);
            if (has_critic) kernels_->minibatch(a, critic, stream);
        }
    }
}

void PolicyGradient::act(bool greedy, uint32_t envs, void* stream) {
    arguments_.greedy = greedy;
    kernels_->act(arguments_, std::min(envs, environment_.envs), stream);
}
void PolicyGradient::act(bool greedy, uint32_t steps, const nacelle_first_episodes* first,
                         void* stream) {
    arguments_.greedy = greedy;
    arguments_.played = {.returns = first->returns,
                         .lengths = first->lengths,
                         .over = first->over,
                         .envs = first->envs,
                         .steps = steps};
    kernels_->play(arguments_, stream);
}

void PolicyGradient::metrics(nacelle::plugin::Metrics& out) {
    for (size_t p = 0; p < settings_.acting(); ++p)
        if (learns(p))
            add_metrics(p, settings_.acting() > 1 ? settings_.policies[p].name + "." : "", out);
    uint64_t marks[mark_count];
    host_.read(marks, arguments_.marks, sizeof marks);
    const auto rate = [&](uint64_t from, uint64_t to) {
        return to > from ? double(steps_per_iteration()) * settings_.ranks * 1e9 / double(to - from)
                         : 0;
    };
    out.add("rollout.steps_per_second", rate(marks[iteration_began], marks[rollout_ended]));
    out.add("update.steps_per_second", rate(marks[rollout_ended], marks[update_ended]));
}

void PolicyGradient::add_metrics(size_t p, const std::string& prefix,
                                 nacelle::plugin::Metrics& out) {
    const PolicyState& state = arguments_.policy[p];
    double sums[tally_count], found[found_count];
    float dials[dial_count];
    host_.read(sums, state.sums, sizeof sums);
    host_.read(found, state.found, sizeof found);
    host_.read(dials, state.dials, sizeof dials);
    const auto mean = [&](Tally tally) {
        return sums[weight] > 0 ? sums[tally] / sums[weight] : 0;
    };
    out.add(prefix + "loss.policy", mean(policy_loss));
    const size_t critic = critic_of(p);
    if (critic < shapes_.size()) {
        double its[tally_count];
        host_.read(its, arguments_.policy[critic].sums, sizeof its);
        sums[value_loss] = its[weight] > 0 ? its[value_loss] / its[weight] * sums[weight] : 0;
    }
    out.add(prefix + "loss.value", mean(value_loss));
    out.add(prefix + "entropy", mean(entropy));
    out.add(prefix + "kl", mean(kl));
    out.add(prefix + "clip_fraction", mean(clipped));
    out.add(prefix + "explained_variance", found[explained]);
    out.add(prefix + "gradient_norm", found[gradient_norm]);
    out.add(prefix + "updates", found[update_count]);
    out.add(prefix + "reward_scale", found[reward_scale]);
    out.add(prefix + "learning_rate", double(dials[learning_rate]));
    pools_.add_metrics(p, prefix, out);
}

}
