#include "engine/base/mean_interval.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace nacelle {

double student_quantile(size_t degrees) {
    // For few degrees of freedom the expansion below is not exact enough.
    static constexpr std::array few{12.7062, 4.3027, 3.1824, 2.7764, 2.5706,
                                    2.4469,  2.3646, 2.3060, 2.2622, 2.2281};
    if (degrees == 0) return 0;
    if (degrees <= few.size()) return few[degrees - 1];
    // Cornish and Fisher's expansion around the normal distribution.
    const double z = 1.959964, n = double(degrees), z3 = z * z * z, z5 = z3 * z * z,
                 z7 = z5 * z * z;
    return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

ShareInterval share_interval(double share, double count) {
    constexpr double z = normal_quantile;
    const double middle = (share + z * z / (2 * count)) / (1 + z * z / count);
    const double reach = z / (1 + z * z / count) *
                         std::sqrt(share * (1 - share) / count + z * z / (4 * count * count));
    return {std::max(0.0, middle - reach), std::min(1.0, middle + reach)};
}

MeanInterval mean_interval(const std::vector<double>& values) {
    if (values.empty()) return {std::nan(""), 0};
    const auto count = double(values.size());
    double sum = 0, squares = 0;
    for (const double value : values) sum += value;
    const double mean = sum / count;
    if (values.size() == 1) return {mean, 0};
    for (const double value : values) squares += (value - mean) * (value - mean);
    return {mean, student_quantile(values.size() - 1) * std::sqrt(squares / (count - 1) / count)};
}

}
