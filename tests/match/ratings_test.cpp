#include "engine/match/ratings.h"
#include "tests/support/random.h"

#include <cmath>
#include <doctest/doctest.h>
#include <initializer_list>

using namespace nacelle;
using namespace nacelle::test;

namespace {

double share_of(double elo) { return 1 / (1 + std::pow(10, -elo / 400)); }

// The logarithm of what ratings_of() makes largest.
double likelihood(const std::vector<Rating>& ratings, const std::vector<PairResult>& results) {
    double sum = 0;
    for (const PairResult& one : results) {
        const double share = share_of(ratings[one.player].elo - ratings[one.against].elo);
        sum += (double(one.won) + 0.5 * (double(one.drawn) + 1)) * std::log(share) +
               (double(one.lost) + 0.5 * (double(one.drawn) + 1)) * std::log(1 - share);
    }
    return sum;
}

}

TEST_CASE("two players are as far apart as their share of points says") {
    // 300 of 400 games and the draw that is given: 300.5 of 401 points.
    const std::vector<PairResult> results = {{0, 1, 280, 40, 80}};
    const std::vector<Rating> ratings = ratings_of(2, results, 1, 0);
    CHECK(share_of(ratings[0].elo) == doctest::Approx(300.5 / 401).epsilon(1e-9));
    CHECK(ratings[1].elo == 0);
    CHECK(ratings[1].interval == 0);
    // The share's standard deviation over the slope of the share.
    const double p = 300.5 / 401, slope = p * (1 - p) * std::log(10) / 400;
    CHECK(ratings[0].interval ==
          doctest::Approx(1.96 * std::sqrt(p * (1 - p) / 401) / slope).epsilon(1e-6));
    const std::vector<Rating> first = ratings_of(2, results, 0, 1000);
    CHECK(first[0].elo == 1000);
    CHECK(first[1].elo == doctest::Approx(1000 - ratings[0].elo));
}

TEST_CASE("no change of any rating makes the results more likely") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Dice dice(seed);
    std::vector<PairResult> results;
    for (size_t a = 0; a < 5; ++a)
        for (size_t b = a + 1; b < 5; ++b)
            results.push_back({a, b, dice.index(30), dice.index(10), dice.index(30)});
    const size_t anchor = dice.index(5);
    const std::vector<Rating> ratings = ratings_of(5, results, anchor, 1000);
    for (size_t i = 0; i < 5; ++i)
        for (const double change : {-2.0, 2.0}) {
            std::vector<Rating> other = ratings;
            other[i].elo += change;
            CHECK(likelihood(other, results) <= likelihood(ratings, results));
        }
}

TEST_CASE("who wins or loses all games has a finite rating") {
    const std::vector<PairResult> results = {
        {0, 1, 1000, 0, 0}, {1, 2, 1000, 0, 0}, {0, 2, 1000, 0, 0}};
    const std::vector<Rating> ratings = ratings_of(3, results, 2, 0);
    CHECK(ratings[0].elo > ratings[1].elo + 800);
    CHECK(ratings[1].elo > 800);
    CHECK(std::isfinite(ratings[0].elo));
    CHECK(ratings[0].interval > 200);
}

TEST_CASE("intervals hold the true strength of players 19 times of 20") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Dice dice(seed);
    const double truth[] = {0, 150, -100, 400};
    int held = 0, all = 0;
    for (int i = 0; i < 200; ++i) {
        std::vector<PairResult> results;
        for (size_t a = 0; a < 4; ++a)
            for (size_t b = a + 1; b < 4; ++b) {
                PairResult one{.player = a, .against = b};
                for (int game = 0; game < 100; ++game)
                    ++(dice.chance(share_of(truth[a] - truth[b])) ? one.won : one.lost);
                results.push_back(one);
            }
        const std::vector<Rating> ratings = ratings_of(4, results, 0, 0);
        for (size_t player = 1; player < 4; ++player, ++all)
            held += std::abs(ratings[player].elo - truth[player]) <= ratings[player].interval;
    }
    // 570 of 600 are expected; three of a repetition belong together.
    CHECK(held > 535);
    CHECK(held < 598);
}
