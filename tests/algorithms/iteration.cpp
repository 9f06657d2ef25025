#include "tests/algorithms/iteration.h"

namespace nacelle::test {

void Returns::see(const PolicyForm& policy, const Kept& kept) {
    running_.resize(kept.rows, 0.0);
    each_row(policy, kept, [&](size_t row) {
        for (size_t t = 0; t < kept.steps; ++t) {
            const size_t at = t * kept.rows + row;
            running_[row] = running_[row] * policy.dial("gamma") + kept.reward[at];
            all_.push_back(running_[row]);
            if (Kept::ends(kept.flag[at])) running_[row] = 0;
        }
    });
}
double Returns::scale() const {
    double mean = 0, spread = 0;
    for (const double x : all_) mean += x / double(all_.size());
    for (const double x : all_) spread += (x - mean) * (x - mean) / double(all_.size());
    return 1 / std::sqrt(spread);
}

Found found_by(const Scholar& judge, const PolicyForm& policy, const Kept& kept,
               double reward_scale) {
    const size_t all = kept.steps * kept.rows;
    Found found{std::vector<double>(all), std::vector<double>(all + kept.rows),
                std::vector<double>(all), std::vector<double>(all), std::vector<bool>(all)};
    Credit credit{.gamma = policy.dial("gamma"), .lambda = policy.dial("lambda")};
    credit.traced = policy.dials.at("advantage") == "vtrace";
    if (credit.traced) {
        credit.ratio_bound = policy.dial("ratio_bound");
        credit.trace_bound = policy.dial("trace_bound");
    }
    const double bound = policy.dial("reward_bound");
    each_row(policy, kept, [&](size_t row) {
        std::vector<double> value, reward, ratio, final_value;
        std::vector<uint8_t> flag;
        for (size_t t = 0; t < kept.steps; ++t) {
            const size_t at = t * kept.rows + row;
            const auto answer =
                judge.answer(obs_at(kept, t, row), kept.mask_at(at), kept.choice_at(at));
            const double scaled = kept.reward[at] * reward_scale;
            found.value[at] = answer.value;
            found.log_probability[at] = answer.log_probability;
            value.push_back(answer.value);
            ratio.push_back(std::exp(answer.log_probability - kept.log_probability[at]));
            reward.push_back(bound > 0 ? std::clamp(scaled, -bound, bound) : scaled);
            flag.push_back(kept.flag[at]);
            final_value.push_back(kept.final_value[at]);
        }
        // What comes after the last step is judged once, when the rollout ends.
        value.push_back(kept.value[all + row]);
        found.value[all + row] = judge.value(obs_at(kept, kept.steps, row));
        const Worth worth =
            worth_of(credit, reward, flag, value, final_value, ratio, kept.waits[row]);
        for (size_t t = 0; t < kept.steps; ++t) {
            found.advantage[t * kept.rows + row] = worth.advantage[t];
            found.target[t * kept.rows + row] = worth.target[t];
            found.known[t * kept.rows + row] = worth.known[t];
        }
    });
    return found;
}

std::vector<double> own(const PolicyForm& policy, const Kept& kept,
                        const std::vector<double>& array) {
    std::vector<double> part;
    each_row(policy, kept, [&](size_t row) {
        for (size_t at = row; at < array.size(); at += kept.rows)
            if (at >= kept.flag.size() || Kept::acted(kept.flag[at])) part.push_back(array[at]);
    });
    return part;
}

std::vector<Scholar::Sample> samples_of(const PolicyForm& policy, const Kept& kept,
                                        const Found& found) {
    std::vector<Scholar::Sample> samples;
    for (size_t t = 0; t < kept.steps; ++t)
        each_row(policy, kept, [&](size_t row) {
            const size_t at = t * kept.rows + row;
            samples.push_back(
                {obs_at(kept, t, row),
                 kept.choice_at(at),
                 kept.mask_at(at),
                 {kept.log_probability[at], kept.value[at], found.advantage[at], found.target[at]},
                 kept.acted_at(t, row) && found.known[at]});
        });
    return samples;
}
void normalise_advantages(std::vector<Scholar::Sample>& samples) {
    double count = 0, mean = 0, spread = 0;
    for (const auto& sample : samples) {
        count += sample.acts;
        mean += sample.acts ? sample.then.advantage : 0;
    }
    mean /= count;
    for (const auto& sample : samples)
        spread += sample.acts ? std::pow(sample.then.advantage - mean, 2) / count : 0;
    for (auto& sample : samples)
        sample.then.advantage = (sample.then.advantage - mean) / (std::sqrt(spread) + 1e-8);
}

}
