#include "plugins/torch/learners/heads.h"

#include "algorithms/policy_gradient/device/learn/layout/arguments.h"
#include <cmath>
#include <numbers>

namespace torch_learn {
namespace {

using at::Tensor;

const double half_log_two_pi = 0.5 * std::log(2 * std::numbers::pi);
constexpr double closed = -1e30;    // the score of a choice that is not open

}

Heads::Heads(const nacelle::plugin::Schema& schema, uint32_t group, bool squashed)
    : squashed_(squashed) {
    int64_t first = 0, base = 0, reals = 0;
    for (uint32_t i = 0; i < schema.header().fields; ++i) {
        const nacelle::Field& field = schema.field(i);
        if (field.role != nacelle::Role::action || field.group != group) continue;
        const int64_t choices = field.kind == nacelle::Kind::discrete ? field.choices : 0;
        for (uint32_t n = 0; n < field.count; ++n) {
            parts_.push_back({first, base, choices, reals});
            first += choices ? choices : 1;
            base += choices;
            reals += choices == 0;
        }
    }
    for (Part& part : parts_) part.deviation += first;
}

Heads::Judged Heads::judge(const Tensor& outputs, const Tensor& mask, const Tensor& choices) const {
    Judged judged;
    for (size_t p = 0; p < parts_.size(); ++p) {
        const Tensor choice = choices.select(1, int64_t(p));
        if (parts_[p].choices) judge_discrete(parts_[p], outputs, mask, choice, judged);
        else judge_continuous(parts_[p], outputs, choice, judged);
    }
    return judged;
}

namespace {

// Parts are independent and add up.
void add(Heads::Judged& to, const Tensor& log_probability, const Tensor& entropy) {
    to.log_probability =
        to.log_probability.defined() ? to.log_probability + log_probability : log_probability;
    to.entropy = to.entropy.defined() ? to.entropy + entropy : entropy;
}

}

void Heads::judge_discrete(const Part& part, const Tensor& outputs, const Tensor& mask,
                           const Tensor& choice, Judged& judged) const {
    Tensor scores = outputs.narrow(1, part.first, part.choices), none;
    if (mask.defined()) {
        const Tensor shut = mask.narrow(1, part.base, part.choices).eq(0);
        scores = scores.masked_fill(shut, closed);
        none = shut.all(1);
    }
    const Tensor log_p = at::log_softmax(scores, 1);
    Tensor chosen = log_p.gather(1, choice.to(at::kLong).unsqueeze(1)).squeeze(1);
    Tensor entropy = -(log_p.exp() * log_p).sum(1);
    if (none.defined()) {    // where nothing is open, the first one is taken for certain
        chosen = chosen.masked_fill(none, 0);
        entropy = entropy.masked_fill(none, 0);
    }
    add(judged, chosen, entropy);
}

void Heads::judge_continuous(const Part& part, const Tensor& outputs, const Tensor& choice,
                             Judged& judged) const {
    const Tensor log_sigma = outputs.select(1, part.deviation)
                                 .clamp(learn::least_log_deviation, learn::most_log_deviation);
    const Tensor z = (choice - outputs.select(1, part.first)) * (-log_sigma).exp();
    Tensor log_probability = -0.5 * z * z - log_sigma - half_log_two_pi;
    if (squashed_)
        log_probability =
            log_probability - 2 * (std::numbers::ln2 - choice - at::softplus(-2 * choice));
    add(judged, log_probability, log_sigma + (half_log_two_pi + 0.5));
}

}
