#include "tests/algorithms/acts_for_some.h"
#include "tests/replay/updating.h"

// Updates of SAC, TD3 and DDPG beside the formulas of their papers, written once more in doubles: weights, what Adam keeps
// of them, and those that follow.
using namespace nacelle;
using namespace nacelle::test;

namespace {

constexpr size_t options = 3, reals = 2;

// The least of the values of both networks, whose weights lie behind each other.
template <class T> T least_of(const Layered& net, const T* w, const std::vector<T>& row) {
    const T a = net(w, row)[0], b = net(w + net.parameters(), row)[0];
    return value_of(a) <= value_of(b) ? a : b;
}

// What SAC draws by these outputs and this noise, and the logarithm of its density.
template <class T> struct Drawn {
    std::vector<T> action;
    T log_density = 0.0;
};
template <class T> Drawn<T> draw(const std::vector<T>& out, const Numbers& noise) {
    using std::exp, std::log, std::tanh;
    Drawn<T> drawn;
    for (size_t k = 0; k < reals; ++k) {
        T sigma_log = out[reals + k];
        if (value_of(sigma_log) < -5) sigma_log = -5.0;
        if (value_of(sigma_log) > 2) sigma_log = 2.0;
        const T u = out[k] + exp(sigma_log) * T(noise[k]), y = tanh(u);
        drawn.action.push_back(y);
        drawn.log_density = drawn.log_density -
                            T(0.5 * noise[k] * noise[k] + 0.5 * std::log(2 * M_PI)) - sigma_log -
                            log(T(1.0) - y * y);
    }
    return drawn;
}

// Slopes of the mean squared errors of all networks whose weights lie behind each other.
Numbers slopes_of_values(const Layered& net, const Numbers& weights,
                         const std::vector<Numbers>& seen, const std::vector<Numbers>& action,
                         const Numbers& aim) {
    return mean_slopes(weights, weights.size(), samples, [&](size_t i, const Traces& w) {
        Traced loss = 0.0;
        for (size_t at = 0; at < w.size(); at += net.parameters()) {
            const Numbers row = joined(seen[i], action[i]);
            const Traced far = net(w.data() + at, Traces(row.begin(), row.end()))[0] - aim[i];
            loss = loss + 0.5 * far * far;
        }
        return loss;
    });
}

void hold_sac(By by) {
    Updating at(name_of("sac", by), "moves.cu", with(by, {{"n_step", 2}}));
    const Layered net{{seen_width, neurons, 2 * reals}}, values{{seen_width + reals, neurons, 1}};
    for (int update = 0; update < 3; ++update) {
        const auto policy = at.weights("policy"), value = at.weights("values"),
                   heat = at.weights("temperature");
        at.update();
        const auto seen = at.seen("obs"), next = at.seen("next_obs"),
                   action = at.rows("action", reals);
        const std::vector<Numbers> noise = at.rows("noise", reals);
        const Numbers reward = at.numbers("batch.reward"), discount = at.numbers("batch.discount");
        const double temperature = std::exp(heat.now[0]);
        Numbers aim;
        for (size_t i = 0; i < samples; ++i) {
            const Drawn<double> then = draw(net(policy.now.data(), next[i]), noise[i]);
            const double worth =
                least_of(values, value.following.data(), joined(next[i], then.action)) -
                temperature * then.log_density;
            aim.push_back(reward_scale * reward[i] + discount[i] * worth);
        }
        const auto learned = at.weights("values");
        hold(learned, value, slopes_of_values(values, value.now, seen, action, aim), true);
        // The policy climbs the values that were just learned.
        double entropy = 0;
        const Numbers slopes = mean_slopes(
            joined(policy.now, learned.now), policy.now.size(), samples,
            [&](size_t i, const Traces& w) {
                const auto now =
                    draw(net(w.data(), Traces(seen[i].begin(), seen[i].end())), noise[samples + i]);
                entropy -= now.log_density.value / double(samples);
                return temperature * now.log_density -
                       least_of(values, w.data() + policy.now.size(), joined(seen[i], now.action));
            });
        hold(at.weights("policy"), policy, slopes, false);
        hold(at.weights("temperature"), heat, {entropy + double(reals)}, false);
    }
}

void hold_discrete_sac() {
    Updating at("torch_sac", "steps.cu", {{"temperature", 0.3}});
    const Layered net{{seen_width, neurons, options}};
    const auto chances = [&](auto out, const Numbers& open) {
        for (size_t c = 0; c < options; ++c)
            if (open[c] == 0) out[c] = -1e9;
        return softmax(out);
    };
    // Of all options: their chance times (temperature log chance - the lower value).
    const auto costs = [&](const auto& chance, const Numbers& first, const Numbers& second) {
        using std::log;
        auto sum = chance[0] * 0.0;
        for (size_t c = 0; c < options; ++c)
            if (value_of(chance[c]) > 0)
                sum = sum + chance[c] * (0.3 * log(chance[c]) - std::min(first[c], second[c]));
        return sum;
    };
    for (int update = 0; update < 3; ++update) {
        const auto policy = at.weights("policy"), value = at.weights("values");
        at.update();
        const auto seen = at.seen("obs"), next = at.seen("next_obs"),
                   open = at.rows("mask", options), next_open = at.rows("next_mask", options);
        const Numbers action = at.numbers("batch.action"), reward = at.numbers("batch.reward"),
                      discount = at.numbers("batch.discount");
        const auto both = [&](const Numbers& w, const Numbers& row) {
            return std::pair(net(w.data(), row), net(w.data() + net.parameters(), row));
        };
        const Numbers slopes =
            mean_slopes(value.now, value.now.size(), samples, [&](size_t i, const Traces& w) {
                const auto [first, second] = both(value.following, next[i]);
                const double worth = -costs(chances(net(policy.now.data(), next[i]), next_open[i]),
                                            first, second),
                             aim = reward_scale * reward[i] + discount[i] * worth;
                Traced loss = 0.0;
                for (const size_t from : {size_t(0), net.parameters()}) {
                    const Traced far =
                        net(w.data() + from,
                            Traces(seen[i].begin(), seen[i].end()))[size_t(action[i])] -
                        aim;
                    loss = loss + 0.5 * far * far;
                }
                return loss;
            });
        const auto learned = at.weights("values");
        hold(learned, value, slopes, true);
        hold(at.weights("policy"), policy,
             mean_slopes(policy.now, policy.now.size(), samples,
                         [&](size_t i, const Traces& w) {
                             const auto [first, second] = both(learned.now, seen[i]);
                             return costs(
                                 chances(net(w.data(), Traces(seen[i].begin(), seen[i].end())),
                                         open[i]),
                                 first, second);
                         }),
             false);
    }
}

void hold_td3(bool twins, By by) {
    Updating at(name_of(twins ? "td3" : "ddpg", by), "moves.cu", with(by, {{"n_step", 3}}));
    const Layered net{{seen_width, neurons, reals}}, values{{seen_width + reals, neurons, 1}};
    int of_policy = 0;
    for (int update = 0; update < 4; ++update) {
        const auto policy = at.weights("policy"), value = at.weights("values");
        at.update();
        const auto seen = at.seen("obs"), next = at.seen("next_obs"),
                   action = at.rows("action", reals), noise = at.rows("noise", reals);
        const Numbers reward = at.numbers("batch.reward"), discount = at.numbers("batch.discount");
        Numbers aim;
        for (size_t i = 0; i < samples; ++i) {
            Numbers then = net(policy.following.data(), next[i]);
            for (size_t k = 0; k < reals; ++k) {
                then[k] = std::tanh(then[k]);
                if (twins)
                    then[k] =
                        std::clamp(then[k] + std::clamp(0.2 * noise[i][k], -0.5, 0.5), -1.0, 1.0);
            }
            const Numbers row = joined(next[i], then);
            const double worth = twins ? least_of(values, value.following.data(), row)
                                       : values(value.following.data(), row)[0];
            aim.push_back(reward_scale * reward[i] + discount[i] * worth);
        }
        const auto learned = at.weights("values"), moved = at.weights("policy");
        const bool learns = !twins || int64_t(value.updates) % 2 == 1;
        hold(learned, value, slopes_of_values(values, value.now, seen, action, aim), learns);
        if (!learns) {
            CHECK(moved.now == policy.now);
            CHECK(moved.following == policy.following);
            CHECK(learned.following == value.following);
            continue;
        }
        ++of_policy;
        hold(moved, policy,
             mean_slopes(joined(policy.now, learned.now), policy.now.size(), samples,
                         [&](size_t i, const Traces& w) {
                             Traces chosen = net(w.data(), Traces(seen[i].begin(), seen[i].end()));
                             for (Traced& one : chosen) one = tanh(one);
                             return 0.0 - values(w.data() + policy.now.size(),
                                                 joined(seen[i], chosen))[0];
                         }),
             true);
    }
    CHECK(of_policy == (twins ? 2 : 4));
}

}

TEST_CASE("an update of SAC is that of its papers, temperature and all") {
    for (const By by : {By::kernels, By::emulated}) hold_sac(by);
}
TEST_CASE("updates of TD3 and DDPG are those of their papers") {
    for (const By by : {By::kernels, By::emulated})
        for (const bool twins : {true, false}) hold_td3(twins, by);
}
TEST_CASE("asked for the first environments, a learner with a replay acts for no others") {
    for (const bool emulates : {false, true}) {
        Lesson lesson(
            quick_cpu(), {{"source", source_path("tests/replay/moves.cu")}, {"count", 300}}, "sac",
            {{"batch", 32},
             {"warm_up", 600},
             {"capacity", 6000},
             {"emulate", emulates},
             {"policies", {{"default", {{"hidden", {neurons}}, {"activation", "tanh"}}}}}});
        lesson.iterate(2);
        hold_for_some(lesson);
    }
}
TEST_CASE("updates on LibTorch are those of the papers, too") {
    if (!is_there(By::libtorch)) NACELLE_SKIP(no_libtorch);
    hold_sac(By::libtorch);
    for (const bool twins : {true, false}) hold_td3(twins, By::libtorch);
}
TEST_CASE("an update of SAC by choices is that of its paper, without those that are closed") {
    if (!is_there(By::libtorch)) NACELLE_SKIP(no_libtorch);
    hold_discrete_sac();
}
