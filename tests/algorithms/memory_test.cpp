#include "engine/run/evaluation.h"
#include "tests/algorithms/iteration.h"
#include "tests/support/random.h"
#include "tests/support/sanitized.h"
#include "tests/support/skip.h"

// Networks that remember, against doubles: what they choose by and learn from, step after step of every sequence.

using namespace nacelle;
using namespace nacelle::test;

namespace {

template <class T> T logistic(const T& x) {
    using std::exp;
    return T(1.0) / (T(1.0) + exp(T(0.0) - x));
}
template <class T> std::vector<T> affine(const T* weights, const std::vector<T>& x, size_t out) {
    std::vector<T> y(out);
    for (size_t o = 0; o < out; ++o)
        y[o] = dot(weights[x.size() * out + o], x, weights + o * x.size());
    return y;
}

// One step of a layer that remembers, by the formulas of algorithms/README.md. `h` becomes what it is from now on.
template <class T>
const T* remembering(const std::string& cell, const ActivationForm& activation, const T* weights,
                     std::vector<T>& x, T* h, size_t out) {
    using std::tanh;
    const bool gru = cell == "gru";
    const size_t gates = gru ? 3 : 2;
    const std::vector<T> seen = affine(weights, x, gates * out);
    weights += (x.size() + 1) * gates * out;
    x.assign(out, T(0.0));
    if (!gru) {
        for (size_t j = 0; j < out; ++j) {
            const T z = logistic(seen[j]);
            x[j] = (T(1.0) - z) * h[j] + z * activated(activation, seen[out + j]);
        }
    } else {
        const std::vector<T> own = affine(weights, std::vector<T>(h, h + out), 3 * out);
        weights += (out + 1) * 3 * out;
        for (size_t j = 0; j < out; ++j) {
            const T r = logistic(seen[j] + own[j]), z = logistic(seen[out + j] + own[out + j]);
            x[j] = (T(1.0) - z) * tanh(seen[2 * out + j] + r * own[2 * out + j]) + z * h[j];
        }
    }
    std::copy(x.begin(), x.end(), h);
    return weights;
}

// A policy's networks in doubles, or on a tape.
class Rememberer final {
public:
    Rememberer(const PolicyForm& form, Normaliser normaliser)
        : form_(form), normaliser_(std::move(normaliser)) {}

    size_t memory() const {
        size_t n = 0;
        for (size_t l = 0; l < form_.cells.size(); ++l)
            n += form_.cells[l] == "linear" ? 0 : form_.actor[l + 1];
        return form_.shared ? n : 2 * n;
    }
    // The outputs for the next observation and, behind them, the value.
    template <class T>
    std::vector<T> step(const std::vector<T>& weights, const std::vector<double>& obs,
                        std::vector<T>& memory) const {
        const T* w = weights.data();
        T* h = memory.data();
        std::vector<T> out = through(form_.actor, true, w, obs, h);
        if (!form_.shared) out.push_back(through(form_.critic, false, w, obs, h).front());
        return out;
    }

private:
    // What the first layer sees, behind the convolutions where there are any.
    template <class T>
    std::vector<T> entered(const T*& weights, const std::vector<double>& obs) const {
        std::vector<double> normal(obs.size());
        for (size_t i = 0; i < obs.size(); ++i)
            normal[i] = within((obs[i] - normaliser_.mean[i]) * normaliser_.scale[i], -10, 10);
        if (form_.encoder.layers.empty()) return {normal.begin(), normal.end()};
        const T* const its = weights;
        weights += form_.encoder.parameters();
        return form_.encoder.seen(form_.activation, its, obs, normal);
    }
    template <class T>
    std::vector<T> through(const std::vector<size_t>& widths, bool chooses, const T*& weights,
                           const std::vector<double>& obs, T*& h) const {
        std::vector<T> x = entered(weights, obs);
        for (size_t l = 0; l < form_.cells.size(); ++l) {
            const size_t out = widths[l + 1];
            if (form_.cells[l] == "linear") {
                std::vector<T> y = affine(weights, x, out);
                weights += (x.size() + 1) * out;
                for (T& one : y) one = activated(form_.activation, one);
                x = std::move(y);
                continue;
            }
            weights = remembering(form_.cells[l], form_.activation, weights, x, h, out);
            h += out;
        }
        const size_t in = x.size(), out = widths.back();
        std::vector<T> y = affine(weights, x, out);
        for (size_t o = form_.head.first_blind(); chooses && o < form_.head.outputs(); ++o)
            y[o] = weights[in * out + o];
        weights += (in + 1) * out;
        return y;
    }

    const PolicyForm& form_;
    Normaliser normaliser_;
};

// What a rollout kept of what its rows remembered.
struct Memories {
    std::vector<double> begun, remembered;
    std::vector<uint8_t> forgot;
    size_t sequence;

    Memories(Lesson& lesson, const PolicyForm& policy)
        : begun(lesson.numbers(policy.name + ".policy.begun")),
          remembered(lesson.numbers(policy.name + ".policy.remembered")),
          forgot(lesson.array(policy.name + ".policy.forgot").host<uint8_t>()),
          sequence(policy.dials.at("sequence").get<size_t>()) {}
};

struct MostError {
    double found, gradient;
};

class Examination final {
public:
    Examination(Lesson& lesson, const PolicyForm& policy, const Normaliser& normaliser,
                std::vector<double> weights)
        : policy_(policy),
          network_(policy, normaliser),
          kept_(lesson, policy),
          memories_(lesson, policy),
          weights_(std::move(weights)),
          final_obs_(rows_seen(lesson, policy, "final_obs")),
          over_(numbers(lesson.env(), "terminated")) {
        const std::vector<double> cut = numbers(lesson.env(), "truncated");
        for (size_t env = 0; env < cut.size(); ++env) over_[env] += cut[env];
    }

    // What was found step after step, when the memory of a row goes on from where the rollout began.
    void hold_rollout(double most_error) {
        const size_t width = network_.memory();
        each_row(policy_, kept_, [&](size_t row) {
            std::vector<double> h = part(memories_.begun, row, width);
            for (size_t t = 0; t < kept_.steps; ++t) {
                const size_t at = t * kept_.rows + row;
                if (t > 0) forgets_ += memories_.forgot[at];
                if (memories_.forgot[at]) h.assign(width, 0.0);
                if (t % memories_.sequence == 0)
                    compare(part(memories_.begun, t / memories_.sequence * kept_.rows + row, width),
                            h);
                std::vector<double> out = network_.step(weights_, obs_at(kept_, t, row), h);
                hold_end(row, t, h);
                if (!kept_.acted_at(t, row)) continue;
                is_.push_back(kept_.value[at]);
                must_.push_back(out.back());
                out.pop_back();
                is_.push_back(kept_.log_probability[at]);
                must_.push_back(judged(policy_.head, out, kept_.mask_at(at), kept_.choice_at(at))
                                    .log_probability);
            }
            compare(part(memories_.remembered, row, width), h);
            if (over_[row / policy_.in_group]) h.assign(width, 0.0);
            is_.push_back(kept_.value[kept_.steps * kept_.rows + row]);
            must_.push_back(network_.step(weights_, obs_at(kept_, kept_.steps, row), h).back());
        });
        CHECK(forgets_ > 3);
        CHECK(cuts_ > 0);
        CHECK(relative_error(is_, must_) < most_error);
    }
    // The slopes of the mean loss along all weights; nothing goes back before a sequence's first step.
    std::vector<double> slopes() const {
        Tape tape;
        std::vector<Traced> weights;
        for (const double w : weights_) weights.emplace_back(tape, w);
        std::vector<double> slopes(weights.size());
        const auto [count, mean, deviation] = spread();
        each_row(policy_, kept_, [&](size_t row) {
            for (size_t first = 0; first < kept_.steps; first += memories_.sequence) {
                std::vector<Traced> h;
                for (const double x :
                     part(memories_.begun, first / memories_.sequence * kept_.rows + row,
                          network_.memory()))
                    h.emplace_back(x);
                Traced whole(tape, 0.0);
                for (size_t t = first; t < first + memories_.sequence; ++t) {
                    const size_t at = t * kept_.rows + row;
                    if (memories_.forgot[at]) h.assign(h.size(), Traced(0.0));
                    std::vector<Traced> out = network_.step(weights, obs_at(kept_, t, row), h);
                    const Traced value = out.back();
                    out.pop_back();
                    if (!Kept::counts(kept_.flag[at])) continue;
                    const Seen then{kept_.log_probability[at], kept_.value[at],
                                    (kept_.advantage[at] - mean) / deviation, kept_.target[at]};
                    const auto now =
                        judged(policy_.head, out, kept_.mask_at(at), kept_.choice_at(at));
                    whole = whole + loss_of(policy_.loss(), then, now, value).whole;
                }
                tape.pull(whole.number, weights.size(), slopes);
            }
        });
        for (double& slope : slopes) slope /= count;
        return slopes;
    }
    const Kept& kept() const { return kept_; }

private:
    static std::vector<double> part(const std::vector<double>& all, size_t row, size_t width) {
        const auto first = all.begin() + std::ptrdiff_t(row * width);
        return {first, first + std::ptrdiff_t(width)};
    }
    void compare(const std::vector<double>& is, const std::vector<double>& must) {
        is_.insert(is_.end(), is.begin(), is.end());
        must_.insert(must_.end(), must.begin(), must.end());
    }
    // An environment's last end stays in its final_obs: it is valued with what was remembered until then.
    void hold_end(size_t row, size_t t, std::vector<double> h) {
        if (!Kept::cut(kept_.flag[t * kept_.rows + row])) return;
        for (size_t later = t + 1; later < kept_.steps; ++later)
            if (Kept::ends(kept_.flag[later * kept_.rows + row])) return;
        ++cuts_;
        is_.push_back(kept_.final_value[t * kept_.rows + row]);
        must_.push_back(network_.step(weights_, part(final_obs_, row, kept_.width), h).back());
    }
    struct Spread {
        double count = 0, mean = 0, deviation = 0;
    };
    Spread spread() const {
        Spread s;
        double squares = 0;
        for (size_t at = 0; at < kept_.flag.size(); ++at) {
            if (!is_own(at) || !Kept::counts(kept_.flag[at])) continue;
            s.count += 1;
            s.mean += kept_.advantage[at];
        }
        s.mean /= s.count;
        for (size_t at = 0; at < kept_.flag.size(); ++at)
            if (is_own(at) && Kept::counts(kept_.flag[at]))
                squares += std::pow(kept_.advantage[at] - s.mean, 2) / s.count;
        s.deviation = std::sqrt(squares) + 1e-8;
        return s;
    }
    bool is_own(size_t at) const {
        const size_t id = at % kept_.rows % policy_.in_group;
        return std::find(policy_.agents.begin(), policy_.agents.end(), id) != policy_.agents.end();
    }

    const PolicyForm& policy_;
    Rememberer network_;
    Kept kept_;
    Memories memories_;
    std::vector<double> weights_, final_obs_, is_, must_;
    std::vector<double> over_;    // of an environment: whether an episode is about to begin
    size_t forgets_ = 0, cuts_ = 0;
};

struct Remembering {
    const char *env, *learner;
    Json policy, config = Json::object();
};

void hold_memory(const std::shared_ptr<RunsOn>& on, Remembering c, const MostError& limits,
                 uint32_t envs) {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    CAPTURE(c.env);
    CAPTURE(c.policy.dump());
    c.policy["gains"] = {{"choice", 1.0}};
    Json config = {{"horizon", 6},       {"sequence", 3},   {"minibatches", 1},
                   {"learning_rate", 0}, {"entropy", 0.03}, {"value_weight", 0.7},
                   {"gamma", 0.93},      {"lambda", 0.8},   {"policies", {{"default", c.policy}}}};
    if (c.learner == std::string("ppo")) config["epochs"] = 1;
    config.update(c.config);
    Lesson lesson(on, env_of(c.env, envs), c.learner, config, seed);
    const std::vector<PolicyForm> policies = policies_of(lesson);
    std::vector<Normaliser> normalisers;
    lesson.iterate();
    for (const PolicyForm& policy : policies)
        normalisers.push_back(Normaliser::of(lesson, policy.group));
    lesson.iterate();
    for (size_t p = 0; p < policies.size(); ++p) {
        const PolicyForm& policy = policies[p];
        CAPTURE(policy.name);
        Examination examined(lesson, policy, normalisers[p],
                             lesson.numbers(policy.name + ".policy.weights"));
        examined.hold_rollout(limits.found);
        CHECK(relative_error(lesson.numbers(policy.name + ".policy.total"), examined.slopes()) <
              limits.gradient);
        // With a learning rate of nothing what is reviewed is what it was.
        for (const double ratio : own(policy, examined.kept(), examined.kept().ratio))
            CHECK(std::abs(ratio - 1) < 10 * limits.found);
    }
}

const Json mingru = {{"mingru", 9}}, gru = {{"gru", 7}};
std::vector<Remembering> rememberers() {
    return {
        {"choices", "ppo", {{"hidden", {6, mingru}}}},
        {"choices",
         "ppo",
         {{"hidden", {gru}}, {"trunk", "separate"}},
         {{"advantage", "vtrace"}, {"epochs", 2}, {"sequence", 6}}},
        {"mixed", "a2c", {{"hidden", {gru, mingru, 5}}, {"activation", "silu"}}, {{"sequence", 1}}},
        {"relay",
         "ppo",
         {{"hidden", {mingru, gru}}, {"trunk", "separate"}, {"activation", "silu"}}},
        {"screen", "ppo", {{"hidden", {{{"conv", 5}, {"size", 3}}, 6, mingru}}}},
        {"screen",
         "ppo",
         {{"hidden",
           {{{"conv", 9}, {"size", {3, 2}}, {"stride", 2}, {"padding", 1}},
            {{"conv", 5}, {"size", 2}},
            gru,
            4}},
          {"trunk", "separate"},
          {"activation", "gelu"}},
         {{"advantage", "vtrace"}, {"epochs", 2}}},
    };
}

Remembering emulated(Remembering c, const char* precision) {
    c.config["emulate"] = true;
    c.policy["precision"] = precision;
    return c;
}

}

TEST_CASE(
    "networks that remember choose and learn by the formulas on a GPU's kernels, on threads") {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "a thread of the host for each of a GPU's takes minutes here: the plain build has it");
#endif
    const auto on = quick_cpu();
    hold_memory(on, emulated(rememberers()[3], "f32"), {1e-5, 1e-5}, 26);
    hold_memory(on, emulated(rememberers()[1], "bf16"), {2e-2, 2e-2}, 130);
    hold_memory(on, emulated(rememberers()[4], "bf16"), {2e-2, 2e-2}, 130);
    hold_memory(on, emulated(rememberers()[5], "f32"), {1e-5, 1e-5}, 60);
    Remembering in_steps =
        emulated(rememberers()[3], "f32");    // a gru with launches for each step
    in_steps.config["rollout"] = "stepwise";
    hold_memory(on, in_steps, {1e-5, 1e-5}, 26);
}

namespace {

// What greedy episodes come to while a rollout waits, and then all that a checkpoint holds an iteration later.
struct Interrupted {
    double mean_return = 0;
    std::vector<std::byte> later;
};
Interrupted interrupted(const std::shared_ptr<RunsOn>& on, bool emulates, bool evaluates) {
    const Json layers = {8, mingru, gru};
    Json config = {{"horizon", 4},
                   {"minibatches", 1},
                   {"epochs", 1},
                   {"learning_rate", 0},
                   {"policies", {{"default", {{"hidden", layers}}}}}};
    if (emulates) config["emulate"] = true;
    Lesson lesson(on, env_of("blind_cartpole", 20), "ppo", config, 7);
    lesson.iterate();
    Interrupted found;
    if (evaluates)
        found.mean_return = Evaluator(lesson.env(), lesson.learner())
                                .play({.episodes = 20, .seed = 8, .greedy = true})
                                .mean_return;
    lesson.iterate();
    found.later = lesson.persistent();
    return found;
}

}

TEST_CASE("an evaluation leaves what a rollout remembers as it is") {
    const Interrupted with = interrupted(cpu(), false, true);
    CHECK(with.later == interrupted(cpu(), false, false).later);
    CHECK(with.mean_return > 5);
#ifndef NACELLE_SANITIZE
    // A GPU's kernels choose alike from the same weights.
    CHECK(interrupted(quick_cpu(), true, true).mean_return == with.mean_return);
#endif
}

namespace {

// On a GPU, where there is one.
void hold_on_gpu(size_t first, size_t end) {
    std::shared_ptr<RunsOn> on;
    const std::string missing = complaint([&] { on = open("cuda"); });
    if (!missing.empty()) NACELLE_SKIP(missing);
    for (size_t i = first; i < end; ++i)
        for (const char* const precision : {"f32", "bf16"}) {
            Remembering c = rememberers()[i];
            c.policy["precision"] = precision;
            const bool f32 = c.policy["precision"] == "f32";
            hold_memory(on, c, f32 ? MostError{1e-5, 1e-5} : MostError{2e-2, 2e-2}, f32 ? 60 : 400);
        }
}

}

TEST_CASE("networks that remember choose and learn by the formulas on a GPU") { hold_on_gpu(0, 2); }
TEST_CASE("networks that remember among other layers, in teams and behind convolutions, on a GPU") {
    hold_on_gpu(2, rememberers().size());
}

TEST_CASE("networks that remember choose and learn by the formulas") {
    const auto on = quick_cpu();
    for (const Remembering& c : few_if_sanitized(rememberers(), {0, 3, 5}))
        hold_memory(on, c, {1e-5, 1e-5}, 40);
}
