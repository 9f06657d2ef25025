#pragma once
#include <cmath>
#include <vector>

namespace nacelle::test {

// How far counts are from what was expected, in deviations of a normal distribution (Wilson and
// Hilferty, 1931): beyond 5 once in three million.
inline double strangeness(const std::vector<double>& counts, const std::vector<double>& expected) {
    double sum = 0, freedom = -1;
    for (size_t i = 0; i < counts.size(); ++i) {
        if (expected[i] <= 0) {
            if (counts[i] > 0) return 1e300;
            continue;
        }
        sum += (counts[i] - expected[i]) * (counts[i] - expected[i]) / expected[i];
        freedom += 1;
    }
    if (freedom < 1) return 0;
    const double part = 2 / (9 * freedom);
    return (std::cbrt(sum / freedom) - (1 - part)) / std::sqrt(part);
}
inline double normal_share_below(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

}
