#include "tests/algorithms/heads.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

// The worst error of many trials, so that one line of checks holds them all.
struct Worst {
    double probability = 0, entropy = 0, slopes = 0, differences = 0;
};

double length(const std::vector<double>& of) {
    double squares = 0;
    for (const double x : of) squares += x * x;
    return std::sqrt(squares);
}
double apart(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> off(a.size());
    for (size_t i = 0; i < a.size(); ++i) off[i] = a[i] - b[i];
    return length(off);
}

template <class A, class S> void try_one(Dice& dice, float size, double open, Worst& worst) {
    using Head = learn::Head<A, S>;
    const Trial<A, S> trial(dice, size, open);
    const std::vector<float> choice = trial.plausible(dice);
    const std::vector<double> out(trial.out.begin(), trial.out.end()),
        chosen(choice.begin(), choice.end());
    const float by_probability = dice.uniform(-2, 2), by_entropy = dice.uniform(-1, 1);
    float log_probability, entropy;
    Head::evaluate(trial.out.data(), trial.masked(), choice.data(), log_probability, entropy);
    std::vector<float> slope(trial.out.size());
    Head::slopes(trial.out.data(), trial.masked(), choice.data(), by_probability, by_entropy,
                 slope.data());

    const Judged<double> must = judged(trial.form, out, trial.mask, chosen);
    worst.probability =
        std::max(worst.probability, std::abs(double(log_probability) - must.log_probability) /
                                        (1 + std::abs(must.log_probability)));
    worst.entropy = std::max(worst.entropy, std::abs(double(entropy) - must.entropy) /
                                                (1 + std::abs(must.entropy)));
    // The slopes of a sum of both.
    const auto pulled = [&](double of_probability, double of_entropy) {
        Tape tape;
        std::vector<Traced> leaves;
        for (const double x : out) leaves.emplace_back(tape, x);
        const Judged<Traced> now = judged(trial.form, leaves, trial.mask, chosen);
        const Traced sum = of_probability * now.log_probability + of_entropy * now.entropy;
        std::vector<double> its(out.size());
        if (sum.tape) tape.pull(sum.number, out.size(), its);
        return its;
    };
    const std::vector<double> slopes = pulled(by_probability, by_entropy);
    // Where the two cancel, what is left has the rounding of both.
    const double whole = length(pulled(by_probability, 0)) + length(pulled(0, by_entropy)) + 1e-2;
    worst.slopes = std::max(worst.slopes,
                            apart(std::vector<double>(slope.begin(), slope.end()), slopes) / whole);

    // The formulas' own slopes, by differences; the bound of a deviation is a corner.
    std::vector<double> differences(out.size());
    for (size_t i = 0; i < out.size(); ++i) {
        const auto at = [&](double step) {
            std::vector<double> moved = out;
            moved[i] += step;
            const Judged<double> j = judged(trial.form, moved, trial.mask, chosen);
            return double(by_probability) * j.log_probability + double(by_entropy) * j.entropy;
        };
        const double h = 1e-4 * std::exp(i < trial.form.choices() + trial.form.reals() ? -size : 0);
        differences[i] = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
    }
    worst.differences = std::max(worst.differences, apart(differences, slopes) / whole);
}

template <class A, class S> void try_many(float size, double open) {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    CAPTURE(size);
    CAPTURE(open);
    Dice dice(seed);
    Worst worst;
    for (int i = 0; i < 300; ++i) try_one<A, S>(dice, size, open, worst);
    CHECK(worst.probability < 1e-5);
    CHECK(worst.entropy < 1e-5);
    CHECK(worst.slopes < 1e-5);
    CHECK(worst.differences < 1e-5);
}

}

TEST_CASE("log-probabilities, entropies and their slopes are those of the formulas") {
    each_head([]<class A, class S>() { try_many<A, S>(1.9f, 2); });
}
TEST_CASE("they are with masks, too, also where hardly anything is open") {
    for (const double open : {0.7, 0.1, 0.0})
        each_head([=]<class A, class S>() { try_many<A, S>(1.9f, open); });
}
TEST_CASE("large scores and narrow deviations lose nothing") {
    // Far from any bound: scores 9 apart, deviations down to exp(-9).
    each_head([]<class A, class S>() {
        const uint64_t seed = fresh_seed();
        CAPTURE(seed);
        Dice dice(seed);
        Worst worst;
        for (int i = 0; i < 300; ++i) try_one<A, S>(dice, 9, 2, worst);
        CHECK(worst.probability < 1e-5);
        CHECK(worst.entropy < 1e-5);
        CHECK(worst.slopes < 5e-5);    // a deviation of exp(-9) has its own rounding
    });
}
TEST_CASE("beyond its bounds a deviation stands still and has no slope") {
    using Head = learn::Head<Real, FromState>;
    for (const float raw : {-40.0f, -10.5f, 2.5f, 40.0f}) {
        const std::vector<float> out = {0.1f, 0.2f, 0.3f, raw, 0, 0};
        const std::vector<float> choice = {0.1f, 0.4f, 0.1f};
        float log_probability, entropy, held_log_probability, held_entropy;
        Head::evaluate(out.data(), nullptr, choice.data(), log_probability, entropy);
        const std::vector<float> held = {0.1f, 0.2f, 0.3f, raw < 0 ? -10.0f : 2.0f, 0, 0};
        Head::evaluate(held.data(), nullptr, choice.data(), held_log_probability, held_entropy);
        CHECK(log_probability == held_log_probability);
        CHECK(entropy == held_entropy);
        std::vector<float> slope(6, 7.0f);
        Head::slopes(out.data(), nullptr, choice.data(), 1, 1, slope.data());
        CHECK(slope[3] == 0);
        CHECK(slope[4] != 0);
    }
}
TEST_CASE("where nothing is open the first choice is taken, and nothing is infinite") {
    using Head = learn::Head<Several, Free>;
    const std::vector<float> out = {0.5f, 1, -1, 0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0, 1, 2, 3, 4};
    const std::vector<uint8_t> mask = {1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1};
    Bits bits{nacelle::Rng(1, nacelle::Domain::policy, 2, 3)};
    float choice[3], log_probability, entropy, slope[13];
    const float drawn = Head::draw(out.data(), mask.data(), bits, choice);
    CHECK(choice[1] == 0);
    Head::evaluate(out.data(), mask.data(), choice, log_probability, entropy);
    // As if this part were not there.
    const std::vector<uint8_t> sure = {1, 1, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1};
    float sure_log_probability, sure_entropy, sure_slope[13];
    Head::evaluate(out.data(), sure.data(), choice, sure_log_probability, sure_entropy);
    CHECK(drawn == doctest::Approx(sure_log_probability));
    CHECK(log_probability == doctest::Approx(sure_log_probability));
    CHECK(entropy == doctest::Approx(sure_entropy));
    Head::slopes(out.data(), mask.data(), choice, 1, 1, slope);
    Head::slopes(out.data(), sure.data(), choice, 1, 1, sure_slope);
    for (int i = 0; i < 13; ++i) CHECK(slope[i] == sure_slope[i]);
}
