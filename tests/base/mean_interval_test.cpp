#include "engine/base/mean_interval.h"

#include <cmath>
#include <doctest/doctest.h>

using namespace nacelle;

TEST_CASE("a mean has the interval of Student's distribution") {
    // Of any table of its 97.5 % quantile.
    for (const auto& [degrees, quantile] : {std::pair<size_t, double>{1, 12.706},
                                            {4, 2.776},
                                            {10, 2.228},
                                            {11, 2.201},
                                            {20, 2.086},
                                            {30, 2.042},
                                            {99, 1.984},
                                            {1000000, 1.960}})
        CHECK(student_quantile(degrees) == doctest::Approx(quantile).epsilon(0.0005));
    const MeanInterval five = mean_interval({1, 2, 3, 4, 5});
    CHECK(five.mean == 3);
    CHECK(five.interval == doctest::Approx(2.776 * std::sqrt(2.5 / 5)).epsilon(0.001));
    CHECK(mean_interval({7}).mean == 7);
    CHECK(mean_interval({7}).interval == 0);
    CHECK(std::isnan(mean_interval({}).mean));
    CHECK(mean_interval({}).interval == 0);
}

TEST_CASE("the interval of a share holds the shares from which what was found is not far") {
    // Where the share that was found is 1.96 standard deviations of that share away.
    for (const double found : {0.0, 0.02, 0.5, 0.9, 1.0})
        for (const double count : {2.0, 100.0, 5000.0}) {
            const ShareInterval its = share_interval(found, count);
            CHECK(its.low >= 0);
            CHECK(its.high <= 1);
            for (const double end : {its.low, its.high}) {
                const double away = end - found, variance = end * (1 - end) / count;
                CHECK(std::abs(away * away - 1.96 * 1.96 * variance) < 1e-12);
            }
        }
    CHECK(share_interval(1, 100).low == doctest::Approx(0.963).epsilon(1e-3));
}
