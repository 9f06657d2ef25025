#include "tests/support/random.h"

#include <doctest/doctest.h>
#include <learn/formulas/optimiser.h>
#include <nacelle/env.h>
#include <vector>

// The optimiser's kernels, called as they are, against doubles.

namespace {

struct Tiny {
    struct Params {};
    struct State {
        float x;
    };
    struct Action {
        nacelle::Discrete<3> go;
    };
    struct Obs {
        float x[4];
    };
    static void reset(State& s, const Params&, nacelle::Rng&) { s.x = 0; }
    static nacelle::Outcome step(State&, const Action&, const Params&, nacelle::Rng&) { return {}; }
    static Obs observe(const State&, const Params&) { return {}; }
};

}

namespace learn {
template <> struct Spec<0> {
    static constexpr int group = 0;
    static constexpr Kind kind = Kind::trained;
    static constexpr bool shared = true, squashed = false;
    static constexpr int planes = 0;
    static constexpr bool streamed = false;
    static constexpr Activation activation = Activation::tanh;
    static constexpr Deviation deviation = Deviation::free;
    static constexpr int noise_steps = 1;
    static constexpr Loss loss = Loss::clipped;
    static constexpr Encoder encoder = {};
    static constexpr Values values = Values::own;
    static constexpr Sees sees = {};
    using Hidden = nacelle::detail::Ints<7>;
    using Cells = nacelle::detail::Ints<0>;
};
}

using namespace nacelle::test;

namespace {

constexpr size_t parameters = 5 * 7 + 8 * 4;

// What an optimiser reads and writes, whose gradients a test writes.
struct OptimiserArrays {
    learn::Arguments arguments{};
    std::vector<float> weights, moment, total, dials;
    std::vector<double> norms, tallies, sums, carried, found;

    OptimiserArrays()
        : weights(parameters),
          moment(2 * parameters),
          total(parameters),
          dials(learn::dial_count),
          norms(1),
          tallies(3 * learn::tally_count),
          sums(learn::tally_count),
          carried(learn::carried_count),
          found(learn::found_count) {
        learn::PolicyState& state = arguments.policy[0];
        state.weights = weights.data();
        state.moment = moment.data();
        state.total = total.data();
        state.dials = dials.data();
        state.norms = norms.data();
        state.tallies = tallies.data();
        state.sums = sums.data();
        state.carried = carried.data();
        state.found = found.data();
        state.parts = 3;
    }
    void update() {
        const nacelle::View<Tiny> view{};
        norms[0] = 0;
        for (const float g : total) norms[0] += double(g) * double(g);
        learn::decide<Tiny, 0>(view, arguments, {0, 1});
        learn::adam<Tiny, 0>(view, arguments, {0, parameters});
    }
};

struct AdamForm {
    double rate, decay, beta1, beta2, epsilon, longest;
};
// Adam with decoupled decay, from the papers' pseudocode.
struct Adam {
    std::vector<double> weights, m, v;
    double steps = 0;

    void update(const AdamForm& form, const std::vector<float>& gradient) {
        double norm = 0;
        for (const float g : gradient) norm += double(g) * double(g);
        norm = std::sqrt(norm);
        const double scale = form.longest > 0 ? std::min(1.0, form.longest / norm) : 1;
        steps += 1;
        for (size_t i = 0; i < weights.size(); ++i) {
            const double g = double(gradient[i]) * scale;
            m[i] = form.beta1 * m[i] + (1 - form.beta1) * g;
            v[i] = form.beta2 * v[i] + (1 - form.beta2) * g * g;
            const double first = m[i] / (1 - std::pow(form.beta1, steps)),
                         second = v[i] / (1 - std::pow(form.beta2, steps));
            weights[i] -= form.rate * form.decay * weights[i] +
                          form.rate * first / (std::sqrt(second) + form.epsilon);
        }
    }
};

void hold(const AdamForm& form) {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    CAPTURE(form.decay);
    CAPTURE(form.longest);
    Dice dice(seed);
    OptimiserArrays arrays;
    for (float& w : arrays.weights) w = dice.uniform(-1, 1);
    Adam adam{{arrays.weights.begin(), arrays.weights.end()},
              std::vector<double>(parameters),
              std::vector<double>(parameters)};
    arrays.dials[learn::learning_rate] = float(form.rate);
    arrays.dials[learn::weight_decay] = float(form.decay);
    arrays.dials[learn::beta1] = float(form.beta1);
    arrays.dials[learn::beta2] = float(form.beta2);
    arrays.dials[learn::epsilon] = float(form.epsilon);
    arrays.dials[learn::most_norm] = float(form.longest);
    double moved = 0, apart = 0;
    const std::vector<double> start = adam.weights;
    for (int step = 0; step < 100; ++step) {
        const float size = step % 7 == 0 ? 1e-4f : 1.0f;
        for (float& g : arrays.total) g = dice.uniform(-size, 2 * size);
        arrays.update();
        adam.update(form, arrays.total);
    }
    for (size_t i = 0; i < parameters; ++i) {
        moved += std::pow(adam.weights[i] - start[i], 2);
        apart += std::pow(adam.weights[i] - double(arrays.weights[i]), 2);
    }
    CHECK(std::sqrt(moved) > 0.1);
    CHECK(std::sqrt(apart / moved) < 1e-5);
    CHECK(arrays.carried[learn::updates] == 100);
}

}

TEST_CASE("a hundred updates of Adam are those of the papers") {
    hold({.rate = 0.01, .decay = 0, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-5, .longest = 0});
    hold({.rate = 0.01, .decay = 0.1, .beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-8, .longest = 0});
    hold({.rate = 0.02, .decay = 0, .beta1 = 0.5, .beta2 = 0.9, .epsilon = 0.01, .longest = 0.5});
    hold({.rate = 0.02, .decay = 0.3, .beta1 = 0, .beta2 = 0, .epsilon = 0.1, .longest = 3});
}
TEST_CASE("a gradient longer than the bound is cut to it, a shorter one is left") {
    OptimiserArrays arrays;
    arrays.dials[learn::most_norm] = 2;
    std::fill(arrays.total.begin(), arrays.total.end(), 1.0f);
    arrays.update();
    const double norm = std::sqrt(double(parameters));
    CHECK(arrays.found[learn::gradient_norm] == doctest::Approx(norm));
    CHECK(arrays.found[learn::step_scale] == doctest::Approx(2 / norm));
    std::fill(arrays.total.begin(), arrays.total.end(), 0.01f);
    arrays.update();
    CHECK(arrays.found[learn::step_scale] == 1);
    CHECK(arrays.found[learn::update_count] == 2);
}
TEST_CASE("an update ends where choices have moved too far, and makes no step then") {
    OptimiserArrays arrays;
    arrays.dials[learn::learning_rate] = 0.1f;
    arrays.dials[learn::target_kl] = 0.05f;
    std::fill(arrays.total.begin(), arrays.total.end(), 1.0f);
    for (size_t slot = 0; slot < 3; ++slot) {
        arrays.tallies[slot * learn::tally_count + learn::weight] = 10;
        arrays.tallies[slot * learn::tally_count + learn::kl] = 0.4;
    }
    arrays.update();
    CHECK(arrays.found[learn::stopped] == 0);
    const std::vector<float> once = arrays.weights;
    arrays.tallies[learn::kl] = 0.8;
    arrays.update();
    CHECK(arrays.found[learn::stopped] == 1);
    CHECK(arrays.weights == once);
    CHECK(arrays.carried[learn::updates] == 1);
}
TEST_CASE("schedules go from their first number to their second in their form") {
    using learn::Schedule;
    const double from = 0.25, to = 0.001;
    for (int i = -10; i <= 110; ++i) {
        const float progress = float(i) / 100;
        const double x = std::min(std::max(double(progress), 0.0), 1.0);
        const auto close = [&](Schedule::Form form, double must) {
            CAPTURE(form);
            CAPTURE(x);
            const double is = double(learn::scheduled({form, float(from), float(to)}, progress));
            CHECK(std::abs(is - must) < 1e-5 * must);
        };
        close(Schedule::constant, from);
        close(Schedule::linear, from + (to - from) * x);
        close(Schedule::cosine, to + (from - to) * (1 + std::cos(3.14159265358979 * x)) / 2);
        close(Schedule::exponential, from * std::pow(to / from, x));
    }
}
