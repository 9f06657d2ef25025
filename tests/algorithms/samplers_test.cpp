#include "tests/algorithms/chances.h"
#include "tests/algorithms/heads.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

constexpr int draws = 20000, bins = 40;

// What parts of an action came how often: choices, or equal shares of what was expected.
template <class A, class S, class Draw> struct Tally {
    const Trial<A, S>& trial;
    std::vector<std::vector<double>> counts;
    std::vector<std::vector<double>> values;

    Tally(const Trial<A, S>& of, Draw&& draw) : trial(of) {
        for (const Part& part : trial.form.parts)
            counts.emplace_back(size_t(part.choices ? part.choices : bins), 0.0);
        values.resize(counts.size());
        std::vector<float> choice(counts.size());
        for (int i = 0; i < draws; ++i) {
            draw(uint64_t(i), choice.data());
            for (size_t p = 0; p < counts.size(); ++p)
                if (trial.form.parts[p].choices) counts[p][size_t(choice[p])] += 1;
                else values[p].push_back(double(choice[p]));
        }
    }
    void bin(size_t p, double (*share)(double, double, double), double a, double b) {
        for (const double x : values[p])
            counts[p][size_t(std::clamp(share(x, a, b) * bins, 0.0, bins - 1.0))] += 1;
    }
    double strange(size_t p, std::vector<double> share) {
        for (double& x : share) x *= draws;
        return strangeness(counts[p], share);
    }
    void check_moments(size_t p, double mean, double deviation, double fourth) {
        double m = 0, s = 0;
        for (const double x : values[p]) m += x / draws;
        for (const double x : values[p]) s += (x - m) * (x - m) / draws;
        const double root = std::sqrt(double(draws));
        CHECK(std::abs(m - mean) < 5 * deviation / root);
        CHECK(std::abs(s / (deviation * deviation) - 1) < 5 * std::sqrt(fourth - 1) / root);
    }
};

template <class A, class S> void draw_many(double open) {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    CAPTURE(open);
    Dice dice(seed);
    const Trial<A, S> trial(dice, 1.5f, open);
    double worst = 0;
    const auto draw = [&](uint64_t tick, float* choice) {
        Bits bits{Rng(seed, Domain::policy, tick, 5)};
        const float log_probability =
            learn::Head<A, S>::draw(trial.out.data(), trial.masked(), bits, choice);
        const std::vector<double> out(trial.out.begin(), trial.out.end()),
            kept(choice, choice + trial.form.parts.size());
        const double must = judged(trial.form, out, trial.mask, kept).log_probability;
        worst = std::max(worst, std::abs(double(log_probability) - must) / (1 + std::abs(must)));
    };
    Tally<A, S, decltype(draw)&> tally(trial, draw);
    CHECK(worst < 1e-5);
    trial.each_part([&](size_t p, size_t first, size_t base, size_t real) {
        CAPTURE(p);
        std::vector<double> share(tally.counts[p].size(), 1.0 / bins);
        if (const int choices = trial.form.parts[p].choices) {
            double sum = 0;
            for (size_t i = 0; i < size_t(choices); ++i)
                sum += share[i] = trial.open(base + i) ? std::exp(double(trial.out[first + i])) : 0;
            for (double& x : share) x /= sum;
        } else {
            const double mean = double(trial.out[first]),
                         deviation = std::exp(trial.log_deviation(real));
            tally.check_moments(p, mean, deviation, 3);
            tally.bin(
                p, [](double x, double m, double d) { return normal_share_below((x - m) / d); },
                mean, deviation);
        }
        CHECK(tally.strange(p, share) < 5);
    });
}

template <class A, class S> void draw_uniformly(double open) {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    CAPTURE(open);
    Dice dice(seed);
    const Trial<A, S> trial(dice, 1, open);
    const auto draw = [&](uint64_t tick, float* choice) {
        Bits bits{Rng(seed, Domain::policy, tick, 5)};
        learn::Head<A, S>::uniform(trial.masked(), bits, choice);
    };
    Tally<A, S, decltype(draw)&> tally(trial, draw);
    trial.each_part([&](size_t p, size_t, size_t base, size_t) {
        CAPTURE(p);
        std::vector<double> share(tally.counts[p].size(), 1.0 / bins);
        if (const int choices = trial.form.parts[p].choices) {
            double allowed = 0;
            for (size_t i = 0; i < size_t(choices); ++i) allowed += trial.open(base + i);
            for (size_t i = 0; i < size_t(choices); ++i)
                share[i] = trial.open(base + i) ? 1 / allowed : 0;
        } else {
            tally.check_moments(p, 0, 1 / std::sqrt(3.0), 1.8);
            tally.bin(
                p, [](double x, double, double) { return (x + 1) / 2; }, 0, 0);
        }
        CHECK(tally.strange(p, share) < 5);
    });
}

}

TEST_CASE("draws come as often as the network says, and their probabilities are right") {
    each_head([]<class A, class S>() { draw_many<A, S>(2); });
}
TEST_CASE("draws stay within masks, and come as often as they should there") {
    for (const double open : {0.6, 0.1})
        each_head([=]<class A, class S>() { draw_many<A, S>(open); });
}
TEST_CASE("a random policy takes everything that is open equally often") {
    for (const double open : {2.0, 0.4}) {
        draw_uniformly<Several, Free>(open);
        draw_uniformly<Both, Free>(open);
    }
}
TEST_CASE("a greedy choice is the best one that is open") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Dice dice(seed);
    for (int i = 0; i < 500; ++i) {
        const Trial<Both, Free> trial(dice, 3, i % 2 ? 2 : 0.4);
        float choice[4];
        learn::Head<Both, Free>::best(trial.out.data(), trial.masked(), choice);
        trial.each_part([&](size_t p, size_t first, size_t base, size_t) {
            if (trial.form.parts[p].choices == 0) {
                CHECK(choice[p] == trial.out[first]);
                return;
            }
            const size_t chosen = size_t(choice[p]);
            CHECK(trial.open(base + chosen));
            for (size_t k = 0; k < size_t(trial.form.parts[p].choices); ++k)
                if (trial.open(base + k)) CHECK(trial.out[first + k] <= trial.out[first + chosen]);
        });
    }
}
TEST_CASE("what reaches the environment is within bounds, and the middle of them for zero") {
    const auto push = []<class S>(S, float choice) {
        Both action;
        const float all[4] = {choice, 2, choice, 1};
        learn::Head<Both, S>::act(all, action);
        CHECK(int(action.gear) == 2);
        CHECK(int(action.lights) == 1);
        CHECK(float(action.trim) >= -1);
        CHECK(float(action.trim) <= 1);
        return float(action.push);
    };
    for (const float x : {-1e30f, -50.0f, -1.0f, 0.0f, 1.0f, 50.0f, 1e30f}) {
        const double clipped = 5 + 5 * std::clamp(double(x), -1.0, 1.0),
                     squashed = 5 + 5 * std::tanh(double(x));
        CHECK(std::abs(double(push(Free{}, x)) - clipped) < 1e-5);
        CHECK(std::abs(double(push(Squashed{}, x)) - squashed) < 1e-5);
        CHECK(push(Free{}, x) >= 0);
        CHECK(push(Squashed{}, x) <= 10);
    }
    Single single;
    const float four = 4;
    learn::Head<Single, Free>::act(&four, single);
    CHECK(int(single.go) == 4);
}
