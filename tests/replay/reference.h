#pragma once
#include "tests/algorithms/tape.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

// What an update of a network is, in doubles and plain formulas.
namespace nacelle::test {

using Numbers = std::vector<double>;
using Traces = std::vector<Traced>;

// Layers with tanh behind each but the last; of each the weights [out][in], then the biases.
struct Layered {
    std::vector<size_t> widths;

    size_t parameters() const {
        size_t all = 0;
        for (size_t l = 0; l + 1 < widths.size(); ++l) all += (widths[l] + 1) * widths[l + 1];
        return all;
    }
    template <class T> std::vector<T> operator()(const T* w, std::vector<T> x) const {
        using std::tanh;
        for (size_t l = 0; l + 1 < widths.size(); ++l) {
            const size_t in = widths[l], out = widths[l + 1];
            std::vector<T> y;
            for (size_t o = 0; o < out; ++o) y.push_back(dot(w[in * out + o], x, w + o * in));
            if (l + 2 < widths.size())
                for (T& one : y) one = tanh(one);
            w += (in + 1) * out;
            x = std::move(y);
        }
        return x;
    }
};

// The mean loss's slopes by the first `kept` of these numbers; `loss` is of one sample.
template <class Loss>
Numbers mean_slopes(const Numbers& numbers, size_t kept, size_t samples, Loss&& loss) {
    Tape tape;
    Traces traced;
    for (const double one : numbers) traced.emplace_back(tape, one);
    Numbers slopes(numbers.size());
    for (size_t i = 0; i < samples; ++i)
        tape.pull(Traced(loss(i, traced)).number, numbers.size(), slopes);
    slopes.resize(kept);
    for (double& one : slopes) one /= double(samples);
    return slopes;
}

// Adam (Kingma and Ba, 2015): the step after `before` others.
inline void adam(Numbers& weights, Numbers& moments, const Numbers& slopes, double before,
                 double rate) {
    const size_t n = weights.size();
    for (size_t i = 0; i < n; ++i) {
        double &first = moments[i], &second = moments[n + i];
        first = 0.9 * first + 0.1 * slopes[i];
        second = 0.999 * second + 0.001 * slopes[i] * slopes[i];
        const double mean = first / (1 - std::pow(0.9, before + 1)),
                     square = second / (1 - std::pow(0.999, before + 1));
        weights[i] -= rate * mean / (std::sqrt(square) + 1e-8);
    }
}

inline double root_mean_square(const Numbers& numbers) {
    return std::sqrt(std::inner_product(numbers.begin(), numbers.end(), numbers.begin(), 0.0) /
                     double(numbers.size()));
}
// The largest difference, over the number or, where that is larger, over the mean of all: numbers pass through zero.
inline double farthest(const Numbers& found, const Numbers& wanted) {
    if (found.size() != wanted.size()) return 1e300;
    double mean = 0, worst = 0;
    for (const double one : wanted) mean += std::abs(one) / double(wanted.size());
    for (size_t i = 0; i < found.size(); ++i)
        worst =
            std::max(worst, std::abs(found[i] - wanted[i]) / std::max(std::abs(wanted[i]), mean));
    return worst;
}

template <class T> std::vector<T> softmax(const std::vector<T>& scores) {
    using std::exp;
    T sum = 0.0;
    std::vector<T> all;
    for (const T& one : scores) sum = sum + exp(one);
    for (const T& one : scores) all.push_back(exp(one) / sum);
    return all;
}
inline Numbers joined(Numbers a, const Numbers& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}
inline Traces joined(const Numbers& a, const Traces& b) {
    Traces all(a.begin(), a.end());
    all.insert(all.end(), b.begin(), b.end());
    return all;
}

}
