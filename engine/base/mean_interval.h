#pragma once
#include <cstddef>
#include <vector>

namespace nacelle {

// The mean of a sample, and half the width of its 95 % interval by Student's distribution: 0 where there is one value,
// NaN and 0 where there is none.
struct MeanInterval {
    double mean = 0, interval = 0;
};
MeanInterval mean_interval(const std::vector<double>& values);

// Wilson's 95 % interval of a share, such as of games that were won among `count`.
struct ShareInterval {
    double low = 0, high = 0;
};
ShareInterval share_interval(double share, double count);

// The 97.5 % quantile of the normal distribution.
inline constexpr double normal_quantile = 1.96;
// The 97.5 % quantile of Student's distribution: 12.7 for one degree of freedom, 1.96 for very many.
double student_quantile(size_t degrees);

}
