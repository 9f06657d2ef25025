#pragma once
#include "tests/algorithms/tape.h"

#include <cstdint>
#include <string>

// What a policy gradient computes, from the formulas of the papers in the plainest form there is. T is
// double, or Traced where slopes are wanted.
namespace nacelle::test {

inline constexpr double pi_exactly = 3.14159265358979323846;

// One part of an action; no choices: a real one.
struct Part {
    int choices = 0;
    double low = -1, high = 1;
};
struct HeadForm {
    std::vector<Part> parts;
    bool squashed = false, free_deviation = true;

    size_t reals() const {
        size_t n = 0;
        for (const Part& part : parts) n += part.choices == 0;
        return n;
    }
    size_t choices() const {
        size_t n = 0;
        for (const Part& part : parts) n += size_t(part.choices);
        return n;
    }
    size_t outputs() const { return choices() + 2 * reals(); }
    // Outputs from this one on, below outputs(), are parameters of their own.
    size_t first_blind() const { return free_deviation ? choices() + reals() : outputs(); }
};

template <class T> T least(const T& a, const T& b) { return value_of(b) < value_of(a) ? b : a; }
template <class T> T most(const T& a, const T& b) { return value_of(b) > value_of(a) ? b : a; }
template <class T> T within(const T& x, double low, double high) {
    return value_of(x) < low ? T(low) : value_of(x) > high ? T(high) : x;
}

// `kink` is where relu begins to rise.
struct ActivationForm {
    std::string name;
    double kink = 0;
};
template <class T> T activated(const ActivationForm& form, const T& x) {
    using std::exp, std::tanh;
    const std::string& name = form.name;
    if (name == "tanh") return tanh(x);
    if (name == "relu") return value_of(x) > form.kink ? x : T(0.0);
    if (name == "silu") return x / (1.0 + exp(0.0 - x));
    const T inner = std::sqrt(2 / pi_exactly) * (x + 0.044715 * x * x * x);    // gelu
    return 0.5 * x * (1.0 + tanh(inner));
}

// Layers of weight [out][in] and bias [out]; outputs first_blind .. blind_end - 1 are their biases.
template <class T>
std::vector<T> network(const std::vector<size_t>& widths, const ActivationForm& activation,
                       const T* weights, std::vector<T> x, size_t first_blind = 0,
                       size_t blind_end = 0) {
    for (size_t l = 0; l + 1 < widths.size(); ++l) {
        const size_t in = widths[l], out = widths[l + 1];
        const bool last = l + 2 == widths.size();
        std::vector<T> y(out);
        for (size_t o = 0; o < out; ++o) {
            const bool blind = last && o >= first_blind && o < blind_end;
            const T& bias = weights[in * out + o];
            y[o] = blind ? bias : dot(bias, x, weights + o * in);
            if (!last) y[o] = activated(activation, y[o]);
        }
        weights += (in + 1) * out;
        x = std::move(y);
    }
    return x;
}

template <class T> struct Judged { T log_probability = 0.0, entropy = 0.0; };
// What the head says of a choice. `mask` has a byte for each discrete choice, or is empty.
template <class T>
Judged<T> judged(const HeadForm& form, const std::vector<T>& out, const std::vector<uint8_t>& mask,
                 const std::vector<double>& choice) {
    using std::exp, std::log;
    Judged<T> j;
    size_t first = 0, base = 0, deviation = form.choices() + form.reals();
    for (size_t p = 0; p < form.parts.size(); ++p) {
        const Part& part = form.parts[p];
        if (part.choices == 0) {
            const T log_sigma = within(out[deviation++], -10, 2);
            const T z = (choice[p] - out[first++]) / exp(log_sigma);
            j.log_probability =
                j.log_probability - 0.5 * z * z - log_sigma - 0.5 * std::log(2 * pi_exactly);
            // The density of tanh(u) is that of u over 1 - tanh(u)^2 = 1 / cosh(u)^2.
            if (form.squashed)
                j.log_probability = j.log_probability + 2 * std::log(std::cosh(choice[p]));
            j.entropy = j.entropy + log_sigma + 0.5 * std::log(2 * pi_exactly) + 0.5;
            continue;
        }
        const auto open = [&](int i) { return mask.empty() || mask[base + size_t(i)]; };
        double top = -1e300;
        for (int i = 0; i < part.choices; ++i)
            if (open(i)) top = std::max(top, value_of(out[first + size_t(i)]));
        T sum = 0.0;
        for (int i = 0; i < part.choices; ++i)
            if (open(i)) sum = sum + exp(out[first + size_t(i)] - top);
        for (int i = 0; i < part.choices; ++i) {
            if (!open(i)) continue;
            const T log_p = out[first + size_t(i)] - top - log(sum);
            j.entropy = j.entropy - exp(log_p) * log_p;
            if (i == int(choice[p])) j.log_probability = j.log_probability + log_p;
        }
        first += size_t(part.choices);
        base += size_t(part.choices);
    }
    return j;
}

// What a sample's rollout found, and by which numbers it is judged.
struct Seen {
    double log_probability, value, advantage, target;
};
struct LossForm {
    bool clips = true;
    double clip = 0.2, value_clip = 0, value_weight = 0.5, entropy = 0.01;
};
template <class T> struct Loss {
    T policy, value, whole;
    double kl, clipped;
};
// PPO's clipped loss (Schulman and others, 2017, equation 7) or that of A2C, the value's, with a bound
// on its way from the old one where value_clip is above zero, and the entropy.
template <class T>
Loss<T> loss_of(const LossForm& form, const Seen& then, const Judged<T>& now, const T& value) {
    using std::exp;
    Loss<T> l;
    const T ratio = exp(now.log_probability - then.log_probability);
    const double r = value_of(ratio);
    l.kl = r - 1 - std::log(r);
    l.clipped = form.clips && (r < 1 - form.clip || r > 1 + form.clip) ? 1 : 0;
    l.policy = form.clips
                   ? 0.0 - least(T(ratio * then.advantage),
                                 T(within(ratio, 1 - form.clip, 1 + form.clip) * then.advantage))
                   : 0.0 - now.log_probability * then.advantage;
    const T off = value - then.target;
    l.value = 0.5 * off * off;
    if (form.value_clip > 0) {
        const T held = then.value +
                       within(T(value - then.value), -form.value_clip, form.value_clip) -
                       then.target;
        l.value = most(l.value, T(0.5 * held * held));
    }
    l.whole = l.policy + form.value_weight * l.value - form.entropy * now.entropy;
    return l;
}

}
