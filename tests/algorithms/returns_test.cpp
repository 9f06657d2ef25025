#include "tests/algorithms/recomputed.h"
#include "tests/support/random.h"

#include <learn/formulas/returns.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

struct Trajectory {
    std::vector<double> reward, value, final_value, ratio;
    std::vector<uint8_t> flag;
    bool waits = false;
};
// Ends of both kinds in any place, and steps in which the agent does not act.
Trajectory drawn(Dice& dice, size_t steps, double end_chance, double idle_chance, bool moved) {
    Trajectory t;
    const auto number = [&] { return double(dice.uniform(-1, 1)); };
    for (size_t i = 0; i < steps; ++i) {
        t.reward.push_back(number());
        t.value.push_back(number());
        t.final_value.push_back(number());
        t.ratio.push_back(moved ? double(dice.uniform(0.2f, 3.0f)) : 1);
        const int end = dice.chance(end_chance) ? 1 + dice.below(3) : 0;
        t.flag.push_back(uint8_t(end | (dice.chance(idle_chance) ? 0 : 4)));
    }
    t.value.push_back(number());
    t.waits = dice.chance(idle_chance);
    return t;
}
Worth stepped(const Credit& credit, const Trajectory& t) {
    float dials[learn::dial_count] = {};
    dials[learn::gamma] = float(credit.gamma);
    dials[learn::lambda] = float(credit.lambda);
    dials[learn::ratio_bound] = float(credit.ratio_bound);
    dials[learn::trace_bound] = float(credit.trace_bound);
    const size_t steps = t.reward.size();
    learn::Backward back{float(t.value[steps]), float(t.value[steps]), 0, 0, t.waits};
    Worth worth{std::vector<double>(steps), std::vector<double>(steps), std::vector<bool>(steps)};
    for (size_t i = steps; i-- > 0;) {
        float advantage = 0, target = 0;
        worth.known[i] = learn::step_back(back, float(t.reward[i]), t.flag[i], float(t.value[i]),
                                          float(t.final_value[i]), float(t.ratio[i]), dials,
                                          credit.traced, advantage, target);
        worth.advantage[i] = double(advantage);
        worth.target[i] = double(target);
    }
    return worth;
}
// In parts of what was added up on the way, where rounding comes from.
double relative_error(const std::vector<double>& is, const std::vector<double>& must) {
    double difference = 0, size = 1;
    for (size_t i = 0; i < is.size(); ++i) {
        difference += std::pow(is[i] - must[i], 2);
        size += must[i] * must[i];
    }
    return std::sqrt(difference / size);
}
void hold(const Credit& credit, double end_chance, double idle_chance) {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    CAPTURE(end_chance);
    CAPTURE(idle_chance);
    Dice dice(seed);
    double worst = 0;
    for (int i = 0; i < 300; ++i) {
        const Trajectory t =
            drawn(dice, size_t(1 + dice.below(60)), end_chance, idle_chance, credit.traced);
        const Worth is = stepped(credit, t), must = worth_of(credit, t.reward, t.flag, t.value,
                                                             t.final_value, t.ratio, t.waits);
        CHECK(is.known == must.known);
        worst = std::max({worst, relative_error(is.advantage, must.advantage),
                          relative_error(is.target, must.target)});
    }
    CHECK(worst < 1e-5);
}

}

TEST_CASE("advantages are sums over what follows in the episode: GAE") {
    for (const double gamma : {0.9, 1.0})
        for (const double lambda : {0.0, 0.8, 1.0})
            for (const double end : {0.0, 0.1, 0.6})
                for (const double idle : {0.0, 0.3, 0.8})
                    hold({.gamma = gamma, .lambda = lambda}, end, idle);
}
TEST_CASE("advantages are sums over what follows in the episode: V-trace") {
    for (const double lambda : {0.0, 0.9, 1.0})
        for (const double bound : {1.0, 1.7})
            for (const double end : {0.0, 0.2})
                for (const double idle : {0.0, 0.4})
                    hold({.gamma = 0.95,
                          .lambda = lambda,
                          .ratio_bound = bound,
                          .trace_bound = 1.2,
                          .traced = true},
                         end, idle);
}
TEST_CASE("a spread that grows by batches is that of all numbers, far from zero too") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Dice dice(seed);
    for (const double centre : {0.0, 1e3, -1e6}) {
        CAPTURE(centre);
        learn::Spread spread{0, 0, 0};
        std::vector<double> all;
        for (int batch = 0; batch < 50; ++batch) {
            const double shift = spread.mean;
            double count = dice.below(200), sum = 0, squares = 0;
            for (int i = 0; i < int(count); ++i) {
                all.push_back(centre + double(dice.uniform(-1, 2)) * (1 + batch));
                sum += all.back() - shift;
                squares += (all.back() - shift) * (all.back() - shift);
            }
            spread.add(count, sum, squares, shift);
        }
        double mean = 0, variance = 0;
        for (const double x : all) mean += (x - centre) / double(all.size());
        for (const double x : all)
            variance += (x - centre - mean) * (x - centre - mean) / double(all.size());
        CHECK(spread.count == double(all.size()));
        CHECK(spread.mean == doctest::Approx(centre + mean).epsilon(1e-9));
        CHECK(spread.variance() == doctest::Approx(variance).epsilon(1e-4));
    }
}
TEST_CASE("the moments of advantages are those of the numbers") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Dice dice(seed);
    double count = 1000, sum = 0, squares = 0, spread = 0;
    std::vector<double> all;
    for (int i = 0; i < 1000; ++i) {
        all.push_back(double(dice.uniform(-1, 3)));
        sum += all.back();
        squares += all.back() * all.back();
    }
    for (const double x : all) spread += (x - sum / count) * (x - sum / count) / count;
    const learn::Moments moments(count, sum, squares);
    CHECK(moments.mean == doctest::Approx(sum / count));
    CHECK(moments.scale == doctest::Approx(1 / std::sqrt(spread)).epsilon(1e-6));
    const learn::Moments none(0, 0, 0), same(5, 10, 20);
    CHECK(none.mean == 0);
    CHECK(std::isfinite(none.scale));
    CHECK(same.mean == 2);
    CHECK(std::isfinite(same.scale));
}
