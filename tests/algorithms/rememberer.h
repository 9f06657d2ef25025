#pragma once
#include "tests/algorithms/recomputed.h"

// Networks that remember, in doubles or on a tape.
namespace nacelle::test {

template <class T> T logistic(const T& x) {
    using std::exp;
    return T(1.0) / (T(1.0) + exp(T(0.0) - x));
}
template <class T> std::vector<T> affine(const T* weights, const std::vector<T>& x, size_t out) {
    std::vector<T> y(out);
    for (size_t o = 0; o < out; ++o)
        y[o] = dot(weights[x.size() * out + o], x, weights + o * x.size());
    return y;
}

// One step of a layer that remembers, by the formulas of algorithms/README.md. `h` becomes what it is from now on.
template <class T>
const T* remembering(const std::string& cell, const ActivationForm& activation, const T* weights,
                     std::vector<T>& x, T* h, size_t out) {
    using std::tanh;
    const bool gru = cell == "gru";
    const size_t gates = gru ? 3 : 2;
    const std::vector<T> seen = affine(weights, x, gates * out);
    weights += (x.size() + 1) * gates * out;
    x.assign(out, T(0.0));
    if (!gru) {
        for (size_t j = 0; j < out; ++j) {
            const T z = logistic(seen[j]);
            x[j] = (T(1.0) - z) * h[j] + z * activated(activation, seen[out + j]);
        }
    } else {
        const std::vector<T> own = affine(weights, std::vector<T>(h, h + out), 3 * out);
        weights += (out + 1) * 3 * out;
        for (size_t j = 0; j < out; ++j) {
            const T r = logistic(seen[j] + own[j]), z = logistic(seen[out + j] + own[out + j]);
            x[j] = (T(1.0) - z) * tanh(seen[2 * out + j] + r * own[2 * out + j]) + z * h[j];
        }
    }
    std::copy(x.begin(), x.end(), h);
    return weights;
}

// A policy's networks in doubles, or on a tape.
class Rememberer final {
public:
    Rememberer(const PolicyForm& form, Normaliser normaliser)
        : form_(form), normaliser_(std::move(normaliser)) {}

    size_t memory() const {
        size_t n = 0;
        for (size_t l = 0; l < form_.cells.size(); ++l)
            n += form_.cells[l] == "linear" ? 0 : form_.actor[l + 1];
        return form_.shared ? n : 2 * n;
    }
    // The outputs for the next observation and, behind them, the value.
    template <class T>
    std::vector<T> step(const std::vector<T>& weights, const std::vector<double>& obs,
                        std::vector<T>& memory) const {
        const T* w = weights.data();
        T* h = memory.data();
        std::vector<T> out = through(form_.actor, true, w, obs, h);
        if (!form_.shared) out.push_back(through(form_.critic, false, w, obs, h).front());
        return out;
    }

private:
    // What the first layer sees, behind the convolutions where there are any.
    template <class T>
    std::vector<T> entered(const T*& weights, const std::vector<double>& obs) const {
        std::vector<double> normal(obs.size());
        for (size_t i = 0; i < obs.size(); ++i)
            normal[i] = within((obs[i] - normaliser_.mean[i]) * normaliser_.scale[i], -10, 10);
        if (form_.encoder.layers.empty()) return {normal.begin(), normal.end()};
        const T* const its = weights;
        weights += form_.encoder.parameters();
        return form_.encoder.seen(form_.activation, its, obs, normal);
    }
    template <class T>
    std::vector<T> through(const std::vector<size_t>& widths, bool chooses, const T*& weights,
                           const std::vector<double>& obs, T*& h) const {
        std::vector<T> x = entered(weights, obs);
        for (size_t l = 0; l < form_.cells.size(); ++l) {
            const size_t out = widths[l + 1];
            if (form_.cells[l] == "linear") {
                std::vector<T> y = affine(weights, x, out);
                weights += (x.size() + 1) * out;
                for (T& one : y) one = activated(form_.activation, one);
                x = std::move(y);
                continue;
            }
            weights = remembering(form_.cells[l], form_.activation, weights, x, h, out);
            h += out;
        }
        const size_t in = x.size(), out = widths.back();
        std::vector<T> y = affine(weights, x, out);
        for (size_t o = form_.head.first_blind(); chooses && o < form_.head.outputs(); ++o)
            y[o] = weights[in * out + o];
        weights += (in + 1) * out;
        return y;
    }

    const PolicyForm& form_;
    Normaliser normaliser_;
};

}
