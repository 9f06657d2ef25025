#include "tests/algorithms/gradient.h"

#include "tests/support/random.h"

#include <map>

namespace nacelle::test {
namespace {

// The values of what was cut short: an environment's last end stays in its final_obs.
double final_value_error(Lesson& lesson, const PolicyForm& policy, const Kept& kept,
                         const Scholar& scholar) {
    const std::vector<double> last = rows_seen(lesson, policy, "final_obs"),
                              overviews = policy.overview ? lesson.numbers("overview.kept.final")
                                                          : std::vector<double>();
    std::vector<double> must, is;
    each_row(policy, kept, [&](size_t row) {
        for (size_t t = kept.steps; t-- > 0;) {
            const uint8_t flag = kept.flag[t * kept.rows + row];
            if (!Kept::ends(flag)) continue;
            const size_t envs = kept.rows / policy.in_group;
            const auto of_step = overviews.begin() + std::ptrdiff_t(t * envs * policy.overview);
            const std::vector<double> obs = overseen_rows(
                policy, {of_step, of_step + std::ptrdiff_t(envs * policy.overview)}, last);
            const auto first = obs.begin() + std::ptrdiff_t(row * kept.width);
            if (Kept::cut(flag)) {
                must.push_back(scholar.value({first, first + std::ptrdiff_t(kept.width)}));
                is.push_back(kept.final_value[t * kept.rows + row]);
            }
            break;
        }
    });
    REQUIRE(must.size() > 10);
    return relative_error(is, must);
}

// Floats and doubles fall on different sides of relu's kink where a neuron's input lies as close to it as rounding
// reaches: what such neurons may come to.
double error_at_kinks(PolicyForm policy, const std::vector<double>& weights,
                      const Normaliser& normaliser, const std::vector<Scholar::Sample>& samples,
                      double rounding) {
    if (policy.activation.name != "relu") return 0;
    const auto slopes = [&](double kink) {
        policy.activation.kink = kink;
        return Scholar(policy, weights, normaliser).study(samples).slopes;
    };
    return relative_error(slopes(rounding), slopes(-rounding));
}

// A policy whose weights are each off by a rounding. A sum's terms go through as many roundings as there are terms, of
// which the square root remains on average; what is kept as bf16 is rounded once more.
Scholar rounded_scholar(const PolicyForm& policy, std::vector<double> weights,
                        const Normaliser& normaliser, const Limits& limits) {
    const size_t widest = *std::max_element(policy.actor.begin(), policy.actor.end());
    Rng rng(1, Domain::policy, 0, 0);
    const double most = limits.rounding * std::sqrt(double(widest)) + limits.keeping;
    for (double& weight : weights) weight *= 1 + most * double(rng.uniform(-1, 1));
    return Scholar(policy, weights, normaliser);
}

// What rounding makes of the values and probabilities of a network that magnifies it, where large terms cancel or all
// goes through a narrow layer.
double error_of_rounding(const PolicyForm& policy, const Scholar& rounded, const Kept& kept,
                         double reward_scale, const Found& must) {
    const Found moved = found_by(rounded, policy, kept, reward_scale);
    const auto apart = [&](const std::vector<double>& a, const std::vector<double>& b) {
        return relative_error(own(policy, kept, a), own(policy, kept, b));
    };
    return std::max({apart(moved.log_probability, must.log_probability),
                     apart(moved.value, must.value), apart(moved.advantage, must.advantage),
                     apart(moved.target, must.target)});
}

void hold_metrics(Lesson& lesson, const std::string& prefix, const Scholar::Study& study,
                  size_t own_weights, const Limits& limits) {
    const MetricValues values = lesson.learner().metrics();
    std::map<std::string, double> metrics(values.begin(), values.end());
    const auto close = [&](const std::string& name, double must, double most_error) {
        CAPTURE(name);
        REQUIRE(metrics.contains(prefix + name));
        CHECK(std::abs(metrics[prefix + name] - must) < most_error * (1 + std::abs(must)));
    };
    close("loss.policy", study.policy_loss, limits.found);
    close("loss.value", study.value_loss, limits.found);
    close("entropy", study.entropy, limits.found);
    close("kl", study.kl, limits.found);
    close("clip_fraction", study.clipped, limits.found);
    // A central critic's gradient is cut apart from the policy's.
    double norm = 0;
    for (size_t i = 0; i < own_weights; ++i) norm += study.slopes[i] * study.slopes[i];
    close("gradient_norm", std::sqrt(norm), std::max(limits.found, limits.gradient));
}

}

// Two iterations: the second one's observations and rewards are scaled by what the first one saw too.
void hold_to_doubles(const std::shared_ptr<RunsOn>& on, const Case& c, const Limits& limits,
                     uint32_t envs) {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Json config = {{"horizon", 11},   {"minibatches", 1},    {"learning_rate", 0},
                   {"entropy", 0.03}, {"value_weight", 0.7}, {"value_clip", 0.3},
                   {"gamma", 0.93},   {"lambda", 0.8}};
    if (c.learner == "ppo") config["epochs"] = 1;
    config.update(c.config, true);
    Json env = env_of(c.env, envs);
    if (!c.constants.empty()) env["constants"] = c.constants;
    Lesson lesson(on, env, c.learner, config, seed);
    const std::vector<PolicyForm> policies = policies_of(lesson);
    std::vector<Returns> returns(policies.size());
    std::vector<Normaliser> normalisers;
    lesson.iterate();
    for (size_t p = 0; p < policies.size(); ++p) {
        returns[p].see(policies[p], Kept(lesson, policies[p]));
        normalisers.push_back(Normaliser::of(lesson, policies[p]));
    }
    lesson.iterate();
    for (size_t p = 0; p < policies.size(); ++p) {
        const PolicyForm& policy = policies[p];
        CAPTURE(c.env);
        CAPTURE(policy.name);
        const Kept kept(lesson, policy, normalisers[p]);
        returns[p].see(policy, kept);
        const std::vector<double> weights = of_networks(lesson, policy, "weights");
        const Scholar scholar(policy, weights, normalisers[p]);
        const Found must = found_by(scholar, policy, kept, returns[p].scale());
        const auto error = [&](const std::vector<double>& is, const std::vector<double>& wanted) {
            return relative_error(own(policy, kept, is), own(policy, kept, wanted));
        };
        const std::vector<double> errors = {
            error(kept.log_probability, must.log_probability), error(kept.value, must.value),
            error(kept.advantage, must.advantage), error(kept.target, must.target),
            final_value_error(lesson, policy, kept, scholar)};
        const Scholar rounded = rounded_scholar(policy, weights, normalisers[p], limits);
        double found = limits.found;
        if (*std::max_element(errors.begin(), errors.end()) >= found)
            found += 2 * error_of_rounding(policy, rounded, kept, returns[p].scale(), must);
        for (const double one : errors) CHECK(one < found);
        const std::vector<double> last(kept.obs.end() - std::ptrdiff_t(kept.rows * kept.width),
                                       kept.obs.end()),
            seen_last = overseen_rows(
                policy, policy.overview ? numbers(lesson.env(), "global") : std::vector<double>(),
                rows_seen(lesson, policy, "obs"));
        if (kept.in_pairs) CHECK(relative_error(last, seen_last) < 0x1p-9);
        else CHECK(last == seen_last);
        std::vector<Scholar::Sample> samples = samples_of(policy, kept, must);
        normalise_advantages(samples);
        const Scholar::Study study = scholar.study(samples);
        double gradient = limits.gradient + error_at_kinks(policy, weights, normalisers[p], samples,
                                                           limits.gradient / 3);
        const double error_of_total =
            relative_error(of_networks(lesson, policy, "total"), study.slopes);
        // The weights have the same roundings in all samples, so that these do not average out.
        if (error_of_total >= gradient)
            gradient += relative_error(rounded.study(samples).slopes, study.slopes);
        CHECK(error_of_total < gradient);
        hold_metrics(lesson, policies.size() > 1 ? policy.name + "." : "", study,
                     lesson.numbers(policy.name + ".policy.weights").size(), {found, gradient});
    }
}

}
