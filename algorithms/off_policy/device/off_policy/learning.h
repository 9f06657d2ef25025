#pragma once
#include <off_policy/values.h>
// What an update begins and ends with, and the steps of the optimiser.

namespace off_policy {

// A base to the power of a whole number.
NACELLE_INLINE double power(double base, double exponent) {
    double all = 1;
    for (auto left = uint64_t(exponent); left > 0; left /= 2) {
        if (left % 2) all *= base;
        base *= base;
    }
    return all;
}
NACELLE_INLINE float cut(float longest, double length) {
    return longest > 0 ? min(float(double(longest) / (length + 1e-6)), 1.0f) : 1.0f;
}
// Adam (Kingma and Ba, 2015).
struct Adam {
    float keep1, keep2, second_left, rate, epsilon;
    NACELLE_INLINE Adam(double beta1, double beta2, double updates, float learning_rate,
                        float its_epsilon)
        : keep1(float(beta1)),
          keep2(float(beta2)),
          second_left(float(1.0 / (1.0 - power(beta2, updates)))),
          rate(float(double(learning_rate) / (1.0 - power(beta1, updates)))),
          epsilon(its_epsilon) {}
    NACELLE_INLINE float operator()(float w, float g, float& m, float& v) const {
        m += (1.0f - keep1) * (g - m);
        v = keep2 * v + (1.0f - keep2) * g * g;
        return w - m / (sqrt(v * second_left) + epsilon) * rate;
    }
};

// Whether values, and whether the policy, learn in this update; one item.
template <class E> NACELLE_INLINE void open_gates(const View<E>&, const Arguments& a, Items items) {
    if (items.begin != 0) return;
    const uint64_t steps = a.replay.ring.steps[0];
    const bool learns =
        steps * rows_of_all(a.replay) >= a.replay.warm_up && steps >= a.replay.n_step;
    const bool policy = (uint64_t(a.updates[0]) + 1) % a.policy_every == 0;
    a.gates[of_values * learn::found_count + learn::stopped] = learns ? 0 : 1;
    a.gates[of_policy * learn::found_count + learn::stopped] = learns && policy ? 0 : 1;
}

// Where a parameter of some networks lies: in which layer of which network, and behind how many others there.
struct ParameterPlace {
    const Layer* layer;
    uint32_t network, at;

    NACELLE_INLINE ParameterPlace(const Networks& of, uint32_t i) : network(i / of.parameters) {
        const uint32_t own = i % of.parameters;
        layer = of.layer;
        for (uint32_t l = 1; l < of.layers && own >= of.layer[l].parameter; ++l) ++layer;
        at = own - layer->parameter;
    }
    NACELLE_INLINE uint32_t weights() const { return layer->in * layer->out; }
};
// A weight as products read it.
NACELLE_INLINE void prepare_weight(const Networks& of, float* prepared, uint32_t i, float w) {
#if NACELLE_GPU
    const ParameterPlace place(of, i);
    const Layer& layer = *place.layer;
    float* const to = prepared + place.network * of.prepared_floats;
    if (place.at >= place.weights()) {
        to[layer.biases + place.at - place.weights()] = w;
        return;
    }
    const learn::TiledMatrix tiles{reinterpret_cast<uint16_t*>(to) + layer.tiles, layer.plane,
                                   learn::tiles_along(layer.in)};
    learn::put_one<learn::Spec<0>::planes>(tiles, place.at / layer.in, place.at % layer.in, w);
#else
    (void)of, (void)prepared, (void)i, (void)w;
#endif
}
// All weights, which a checkpoint may have brought. An item is a parameter.
template <class E> NACELLE_INLINE void prepare(const View<E>&, const Step& a, Items items) {
    const Networks& of = a.of;
    for (uint64_t i = items.begin; i < min(items.end, uint64_t(of.count) * of.parameters); ++i) {
        prepare_weight(of, of.prepared, uint32_t(i), of.weights[i]);
        if (of.following) prepare_weight(of, of.prepared_following, uint32_t(i), of.following[i]);
    }
}

// The gradient of one parameter: a GPU has parts of its sum.
NACELLE_INLINE float gradient_of(const Networks& of, uint32_t i) {
#if NACELLE_GPU
    const ParameterPlace its(of, i);
    const Layer& layer = *its.layer;
    const uint32_t place = its.at < its.weights()
                               ? its.at / layer.in * layer.pitch + its.at % layer.in
                               : layer.out * layer.pitch + its.at - its.weights();
    const float* const slots =
        of.gradient + its.network * of.gradient_floats + layer.gradient + place;
    float sum = 0;
    for (uint32_t slot = 0; slot < layer.splits; ++slot)
        sum += slots[size_t(slot) * layer.slot_floats];
    return sum;
#else
    return of.total[i];
#endif
}
// One of all ranks, where they add it up in one another's memory. A block's parameters have one owner.
NACELLE_INLINE float sum_of_peers(const Step& a, uint32_t i, float own) {
    if constexpr (learn::by_peers) {
        if (a.shots == 0) return own;
        const learn::Exchange exchange(*a.peers, a.place);
        const uint32_t block = i / uint32_t(learn::block_threads);
        float its[1] = {own};
        if (a.shots == 1) {
            exchange.send<1>(i, its, block);
            exchange.sum<1>(i, its, block);
        } else {
            exchange.send<2>(i, its, block);
            exchange.sum<2>(i, its, block);
        }
        return its[0];
    } else {
        (void)a, (void)i;
        return own;
    }
}
template <class E> NACELLE_INLINE void sum_gradient(const View<E>&, const Step& a, Items items) {
    const uint32_t all = a.of.count * a.of.parameters;
    if (is_closed(a.gates, a.learns)) {    // several ranks add it up all the same
        for (uint64_t i = items.begin; a.ranks > 1 && i < min(items.end, uint64_t(all)); ++i)
            a.of.total[i] = 0;
        return;
    }
    learn::over_strips<1>(items, all, a.of.norms, [&](uint32_t first, int n, auto& sums) {
        for (uint32_t i = first; i < first + uint32_t(n); ++i) {
            const float g = sum_of_peers(a, i, gradient_of(a.of, i));
            a.of.total[i] = g;
            sums.at[0] += double(g) * double(g);
        }
    });
}
// The squares of a gradient that several ranks have added up.
template <class E>
NACELLE_INLINE void measure_gradient(const View<E>&, const Step& a, Items items) {
    if (is_closed(a.gates, a.learns)) return;
    learn::over_strips<1>(items, a.of.count * a.of.parameters, a.of.norms,
                          [&](uint32_t first, int n, auto& sums) {
                              for (uint32_t i = first; i < first + uint32_t(n); ++i)
                                  sums.at[0] += double(a.of.total[i]) * double(a.of.total[i]);
                          });
}
// An item is a parameter.
template <class E> NACELLE_INLINE void adam(const View<E>&, const Step& a, Items items) {
    if (is_closed(a.gates, a.learns)) return;
    const Networks& of = a.of;
    const uint32_t all = of.count * of.parameters;
    const bool follows = of.following && !is_closed(a.gates, a.follows);
    // All blocks of the gradient's are through.
    if (learn::by_peers && a.shots > 0 && items.begin == 0)
        learn::Exchange::next_turn(*a.peers, a.place);
    const float scale =
        a.longest > 0
            ? cut(a.longest, learn::root(learn::sum_of<1>(of.norms, learn::blocks_of(all)).at[0]))
            : 1.0f;
    const Adam step(a.beta1, a.beta2, of.updates[0] + 1, a.dials[replay::learning_rate], a.epsilon);
    for (uint64_t i = items.begin; i < min(items.end, uint64_t(all)); ++i) {
        const float w =
            step(of.weights[i], of.total[i] * scale, of.moments[i], of.moments[all + i]);
        of.weights[i] = w;
        prepare_weight(of, of.prepared, uint32_t(i), w);
        if (!follows) continue;
        const float f = of.following[i] + a.tau * (w - of.following[i]);
        of.following[i] = f;
        prepare_weight(of, of.prepared_following, uint32_t(i), f);
    }
}
NACELLE_INLINE void tune_temperature(const Arguments& a, double found_entropy) {
    double* const updates = a.temperature_updates;
    updates[0] += 1;
    float slope = float(found_entropy) - a.target_entropy;
    slope *= cut(a.longest, double(abs(slope)));
    const Adam step(a.beta1, a.beta2, updates[0], a.replay.dials[replay::learning_rate], a.epsilon);
    a.temperature[0] =
        step(a.temperature[0], slope, a.temperature_moments[0], a.temperature_moments[1]);
}
// The tallies of an update over this rank's samples; one block.
struct UpdateTallies {
    learn::Sums<value_tallies> values;
    learn::Sums<policy_tallies> policy;

    NACELLE_INLINE explicit UpdateTallies(const Arguments& a) {
        const uint32_t blocks = learn::blocks_of(a.replay.batch.size);
        values = learn::sum_of<value_tallies>(a.value_tallies, blocks);
        if (a.method != replay::Method::dqn)
            policy = learn::sum_of<policy_tallies>(a.policy_tallies, blocks);
    }
};
// What several ranks add up of them.
template <class E>
NACELLE_INLINE void sum_tallies(const View<E>&, const Arguments& a, Items items) {
    const UpdateTallies own(a);
    if (items.begin != 0) return;
    double* to = a.tallies_of_ranks;
    for (const double sum : own.values.at) *to++ = sum;
    for (const double sum : own.policy.at) *to++ = sum;
}
// Those of all ranks instead of the own ones.
NACELLE_INLINE void take_sums_of_ranks(const Arguments& a, UpdateTallies& all) {
#if NACELLE_GPU
    if constexpr (learn::by_peers) {
        const learn::Exchange exchange(*a.peers, learn::statistics_of);
        constexpr uint64_t behind = 2 * uint64_t(value_tallies);
        learn::send_sums(exchange, 0, all.values);
        learn::send_sums(exchange, behind, all.policy);
        all.values = learn::sums_of_all(exchange, 0, all.values);
        all.policy = learn::sums_of_all(exchange, behind, all.policy);
        if (threadIdx.x == 0) learn::Exchange::next_turn(*a.peers, learn::statistics_of);
        return;
    }
#endif
    const double* from = a.tallies_of_ranks;
    for (double& sum : all.values.at) sum = *from++;
    for (double& sum : all.policy.at) sum = *from++;
}
// The metrics of an update, a step of the temperature, and the counters; one block.
template <class E>
NACELLE_INLINE void finish_update(const View<E>&, const Arguments& a, Items items) {
    if (is_closed(a.gates, of_values)) return;
    const bool acts = a.method != replay::Method::dqn, soft = a.method == replay::Method::sac;
    const double size = double(samples_of_all(a.replay));
    UpdateTallies all(a);
    const double norm = learn::root(learn::sum_of<1>(a.norms, a.norm_count).at[0]);
    if (a.replay.ranks > 1) take_sums_of_ranks(a, all);
    if (items.begin != 0) return;
    const auto& [values, policy] = all;
    double* found = a.found;
    *found++ = values.at[value_loss] / size;
    if (acts) {
        if (!is_closed(a.gates, of_policy)) *found = policy.at[policy_loss] / size;
        ++found;
    }
    *found++ = (soft ? policy.at[proposed_value] : values.at[value]) / size;
    if (soft) {
        const double its_entropy = policy.at[entropy] / size;
        *found++ = its_entropy;
        *found++ = double(temperature_of(a));
        if (a.tunes) tune_temperature(a, its_entropy);
    }
    *found = norm;
    a.updates[0] += 1;
    a.value_updates[0] += 1;
    if (acts && !is_closed(a.gates, of_policy)) a.policy_updates[0] += 1;
}

}
