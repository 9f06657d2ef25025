#pragma once
#include <cmath>
#include <cstddef>
#include <vector>

// Slopes of anything that is written in plain formulas: each result remembers how it came about, and
// the way back hands out its slope. Sixty lines, so that the tests need no library for it (Debian's
// CppAD and ADOL-C record one function at a time and keep it in a global place).
namespace nacelle::test {

class Tape {
public:
    // The number of a new result; its parents follow by parent().
    size_t add() {
        ends_.push_back(parents_.size());
        return ends_.size() - 1;
    }
    void parent(size_t result, double slope) {
        parents_.push_back({result, slope});
        ends_.back() = parents_.size();
    }
    size_t size() const { return ends_.size(); }
    // Adds the slopes of `from`, which is the last result, to those of the first `kept` results, and
    // forgets all later ones.
    void pull(size_t from, size_t kept, std::vector<double>& slopes) {
        std::vector<double> here(from + 1, 0.0);
        here[from] = 1;
        for (size_t i = from; i >= kept; --i) {
            for (size_t k = i > 0 ? ends_[i - 1] : 0; k < ends_[i]; ++k)
                here[parents_[k].result] += here[i] * parents_[k].slope;
            if (i == 0) break;
        }
        for (size_t i = 0; i < kept; ++i) slopes[i] += here[i];
        ends_.resize(kept);
        parents_.resize(kept > 0 ? ends_.back() : 0);
    }

private:
    struct Parent {
        size_t result;
        double slope;
    };
    std::vector<size_t> ends_;
    std::vector<Parent> parents_;
};

// A double that is on a tape, or a constant.
struct Traced {
    double value = 0;
    Tape* tape = nullptr;
    size_t number = 0;

    Traced() = default;
    Traced(double constant) : value(constant) {}
    Traced(Tape& on, double leaf) : value(leaf), tape(&on), number(on.add()) {}
};

inline Traced traced(double value, const Traced& a, double by_a, const Traced& b, double by_b) {
    Tape* const tape = a.tape ? a.tape : b.tape;
    if (!tape) return value;
    Traced result(*tape, value);
    if (a.tape) tape->parent(a.number, by_a);
    if (b.tape) tape->parent(b.number, by_b);
    return result;
}
inline Traced operator+(const Traced& a, const Traced& b) {
    return traced(a.value + b.value, a, 1, b, 1);
}
inline Traced operator-(const Traced& a, const Traced& b) {
    return traced(a.value - b.value, a, 1, b, -1);
}
inline Traced operator*(const Traced& a, const Traced& b) {
    return traced(a.value * b.value, a, b.value, b, a.value);
}
inline Traced operator/(const Traced& a, const Traced& b) {
    return traced(a.value / b.value, a, 1 / b.value, b, -a.value / (b.value * b.value));
}
inline Traced exp(const Traced& x) {
    return traced(std::exp(x.value), x, std::exp(x.value), 0.0, 0);
}
inline Traced log(const Traced& x) { return traced(std::log(x.value), x, 1 / x.value, 0.0, 0); }
inline Traced tanh(const Traced& x) {
    const double y = std::tanh(x.value);
    return traced(y, x, 1 - y * y, 0.0, 0);
}
// bias + the sum of x[i] * w[i]: one result, however many there are.
inline Traced dot(const Traced& bias, const std::vector<Traced>& x, const Traced* w) {
    double sum = bias.value;
    for (size_t i = 0; i < x.size(); ++i) sum += x[i].value * w[i].value;
    if (!bias.tape) return sum;
    Traced result(*bias.tape, sum);
    bias.tape->parent(bias.number, 1);
    for (size_t i = 0; i < x.size(); ++i) {
        bias.tape->parent(w[i].number, x[i].value);
        if (x[i].tape) bias.tape->parent(x[i].number, w[i].value);
    }
    return result;
}
inline double dot(double bias, const std::vector<double>& x, const double* w) {
    for (size_t i = 0; i < x.size(); ++i) bias += x[i] * w[i];
    return bias;
}
inline double value_of(double x) { return x; }
inline double value_of(const Traced& x) { return x.value; }

}
