#include "tests/algorithms/formulas.h"
#include "tests/support/random.h"

#include <algorithm>
#include <array>
#include <doctest/doctest.h>
#include <learn/formulas/loss.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

struct Numbers {
    Seen then;
    double log_probability, entropy, value;
};
// The whole loss as a function of what the networks say now.
double whole(const LossForm& form, const Numbers& n, double log_probability, double entropy,
             double value) {
    return loss_of<double>(form, n.then, {log_probability, entropy}, value).whole;
}

// Where the ratio and the value are within their bounds, to tell the cases apart: -1, 0, 1.
int side(double x, double low, double high) { return x < low ? -1 : x > high ? 1 : 0; }

template <learn::Loss kind> void hold(const LossForm& form, Dice& dice, auto&& seen) {
    const auto draw = [&](float low, float high) { return double(dice.uniform(low, high)); };
    Numbers n;
    n.then = {draw(-3, 0), draw(-1, 1), draw(-2, 2), draw(-2, 2)};
    n.log_probability = double(float(n.then.log_probability + draw(-0.6f, 0.6f)));
    n.entropy = draw(0, 2);
    n.value = double(float(n.then.value + draw(-0.8f, 0.8f)));
    float dials[learn::dial_count] = {};
    dials[learn::clip] = float(form.clip);
    dials[learn::value_clip] = float(form.value_clip);
    dials[learn::value_weight] = float(form.value_weight);
    dials[learn::entropy_weight] = float(form.entropy);
    const learn::Losses is =
        learn::losses_of<kind>({float(n.then.log_probability), float(n.then.value),
                                float(n.then.advantage), float(n.then.target)},
                               {float(n.log_probability), float(n.entropy), float(n.value)}, dials);
    const double ratio = std::exp(n.log_probability - n.then.log_probability);
    // A corner has no slope to compare, and rounding may put a number on its other side.
    const double moved = std::abs(n.value - n.then.value);
    if (std::abs(ratio - 1 - form.clip) < 1e-3 || std::abs(ratio - 1 + form.clip) < 1e-3) return;
    if (form.value_clip > 0 && std::abs(moved - form.value_clip) < 1e-3) return;
    // Another lies where the value and the bounded one are as far from the target.
    const double bounded =
        n.then.value + std::clamp(n.value - n.then.value, -form.value_clip, form.value_clip);
    if (form.value_clip > 0 && moved > form.value_clip &&
        std::abs(std::abs(n.value - n.then.target) - std::abs(bounded - n.then.target)) < 1e-3)
        return;
    const Loss<double> must =
        loss_of<double>(form, n.then, {n.log_probability, n.entropy}, n.value);
    const auto close = [](float a, double b) {
        return std::abs(double(a) - b) < 1e-5 * (1 + std::abs(b));
    };
    CHECK(close(is.policy, must.policy));
    CHECK(close(is.value, must.value));
    CHECK(close(is.kl, must.kl));
    CHECK(double(is.clipped) == must.clipped);
    const double h = 1e-6;
    const auto slope = [&](double probability, double entropy, double value) {
        return (whole(form, n, n.log_probability + probability, n.entropy + entropy,
                      n.value + value) -
                whole(form, n, n.log_probability - probability, n.entropy - entropy,
                      n.value - value)) /
               (2 * h);
    };
    CHECK(close(is.by_probability, slope(h, 0, 0)));
    CHECK(close(is.by_entropy, slope(0, h, 0)));
    CHECK(close(is.by_value, slope(0, 0, h)));
    seen(side(ratio, 1 - form.clip, 1 + form.clip), n.then.advantage > 0,
         side(n.value - n.then.value, -form.value_clip, form.value_clip));
}

}

TEST_CASE("losses and their slopes are those of the formulas, on every side of every bound") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Dice dice(seed);
    for (const double value_clip : {0.0, 0.3})
        for (const bool clips : {true, false}) {
            CAPTURE(value_clip);
            CAPTURE(clips);
            const LossForm form{.clips = clips,
                                .clip = double(0.2f),
                                .value_clip = double(float(value_clip)),
                                .value_weight = 0.75,
                                .entropy = 0.125};
            std::array<int, 18> cases = {};
            const auto seen = [&](int ratio, bool good, int value) {
                ++cases[size_t((ratio + 1) * 6 + good * 3 + value + 1)];
            };
            for (int i = 0; i < 3000; ++i)
                if (clips) hold<learn::Loss::clipped>(form, dice, seen);
                else hold<learn::Loss::plain>(form, dice, seen);
            if (value_clip > 0)
                for (const int n : cases) CHECK(n > 20);
        }
}
TEST_CASE("a choice that became impossible gives large numbers, but no infinite ones") {
    float dials[learn::dial_count] = {};
    dials[learn::clip] = 0.2f;
    for (const float now : {-1000.0f, 1000.0f})
        for (const float advantage : {-1.0f, 1.0f}) {
            const learn::Losses l =
                learn::losses_of<learn::Loss::clipped>({0, 0, advantage, 0}, {now, 0, 0}, dials);
            CHECK(std::isfinite(l.policy));
            CHECK(std::isfinite(l.kl));
            CHECK(std::isfinite(l.by_probability));
        }
}
