#include "algorithms/policy_gradient/plan/networks.h"

#include "algorithms/policy_gradient/settings/encoder.h"

#include <cmath>
#include <nacelle/random.h>

namespace learn {
namespace {

using Matrix = std::vector<std::vector<double>>;

// Vectors of length 1 at right angles to each other: each loses what it has of those before it, twice,
// so that rounding leaves nothing.
void make_orthogonal(Matrix& vectors) {
    for (size_t i = 0; i < vectors.size(); ++i) {
        std::vector<double>& own = vectors[i];
        for (int pass = 0; pass < 2; ++pass)
            for (size_t j = 0; j < i; ++j) {
                double along = 0;
                for (size_t k = 0; k < own.size(); ++k) along += own[k] * vectors[j][k];
                for (size_t k = 0; k < own.size(); ++k) own[k] -= along * vectors[j][k];
            }
        double size = 0;
        for (const double x : own) size += x * x;
        for (double& x : own) x /= std::sqrt(size);
    }
}

// Vectors of length 1 at right angles to each other, for more of them than could be made so one after the other: those
// along the axes are turned by random angles in planes of two axes, each axis with one twice as far away each time.
Matrix turned_axes(size_t count, size_t length, nacelle::Rng& rng) {
    // [axis][vector]: a turn goes through two rows.
    std::vector<std::vector<float>> along(length, std::vector<float>(count));
    for (size_t i = 0; i < count; ++i) along[i * length / count][i] = 1;
    std::vector<size_t> order(length);
    for (size_t i = 0; i < length; ++i) order[i] = i;
    for (int pass = 0; pass < 3; ++pass) {
        for (size_t i = length; i > 1; --i)
            std::swap(order[i - 1], order[size_t(rng.below(int32_t(i)))]);
        for (size_t apart = 1; apart < length; apart *= 2)
            for (size_t i = 0; i < length; ++i) {
                const size_t other = i ^ apart;
                if (other < i || other >= length) continue;
                const float angle = 6.2831853f * rng.uniform(), c = std::cos(angle),
                            s = std::sin(angle);
                float* const x = along[order[i]].data();
                float* const y = along[order[other]].data();
                for (size_t k = 0; k < count; ++k) {
                    const float before = x[k];
                    x[k] = c * before - s * y[k];
                    y[k] = s * before + c * y[k];
                }
            }
    }
    Matrix vectors(count, std::vector<double>(length));
    for (size_t axis = 0; axis < length; ++axis)
        for (size_t i = 0; i < count; ++i) vectors[i][axis] = double(along[axis][i]);
    return vectors;
}

// Random vectors at right angles to each other.
Matrix orthogonal_vectors(size_t count, size_t length, nacelle::Rng& rng) {
    // About a second's work; more of them, or longer ones, take minutes.
    constexpr size_t many = 512, much = many * many * 1024;
    if (count > many || count * count * length > much) return turned_axes(count, length, rng);
    Matrix vectors(count, std::vector<double>(length));
    for (auto& vector : vectors)
        for (double& x : vector) x = double(rng.normal());
    make_orthogonal(vectors);
    return vectors;
}

// [out][in], with orthogonal rows or, where there are more rows than columns, columns.
Matrix orthogonal(int64_t out, int64_t in, nacelle::Rng& rng) {
    const bool rows = out <= in;
    const Matrix vectors = rows ? orthogonal_vectors(size_t(out), size_t(in), rng)
                                : orthogonal_vectors(size_t(in), size_t(out), rng);
    if (rows) return vectors;
    Matrix turned(static_cast<size_t>(out), std::vector<double>(static_cast<size_t>(in)));
    for (size_t o = 0; o < size_t(out); ++o)
        for (size_t i = 0; i < size_t(in); ++i) turned[o][i] = vectors[i][o];
    return turned;
}

void append_rows(std::vector<float>& weights, const Matrix& matrix, double gain) {
    for (const auto& row : matrix)
        for (const double x : row) weights.push_back(float(x * gain));
}
// A convolution's filters are the rows of a matrix [out][patch].
void append_encoder(std::vector<float>& weights, const Encoder& encoder, double gain,
                    nacelle::Rng& rng) {
    for (int l = 0; l < encoder.count; ++l) {
        append_rows(weights, orthogonal(encoder.layer[l].out, encoder.layer[l].patch(), rng), gain);
        weights.insert(weights.end(), size_t(encoder.layer[l].out), 0.0f);
    }
}
// The neurons of a layer that remembers do so for 1 to 128 steps at first (as Tallec and Ollivier, 2018): what the
// logistic function makes one step's share of that of.
float first_memory(int64_t neuron, int64_t neurons) {
    const double steps = std::pow(128.0, (double(neuron) + 0.5) / double(neurons));
    return float(std::log(steps - 1));
}
// A layer that remembers: gates of what it sees, then those of what it remembers.
void append_cell(std::vector<float>& weights, Cell cell, int64_t in, int64_t out, double hidden,
                 nacelle::Rng& rng) {
    constexpr int keeps = 1;    // the gate z of a gru; a mingru's comes first and says the opposite
    for (int m = 0; m < matrices_of(cell); ++m) {
        const int gates = gates_of(cell);
        for (int g = 0; g < gates; ++g)
            append_rows(weights, orthogonal(out, m == 0 ? in : out, rng),
                        cell == Cell::mingru && g == 1 ? hidden : 1);
        for (int g = 0; g < gates; ++g)
            for (int64_t j = 0; j < out; ++j) {
                const float memory = first_memory(j, out);
                const bool gru = cell == Cell::gru;
                weights.push_back(gru && m == 0 && g == keeps ? memory
                                  : !gru && g == 0            ? -memory
                                                              : 0.0f);
            }
    }
}
// gain(row) scales the last layer's rows, bias(row) is where they begin.
template <class Gain, class Bias>
void append_network(std::vector<float>& weights, const std::vector<int64_t>& widths,
                    const std::vector<Cell>& cells, double hidden, Gain gain, Bias bias,
                    nacelle::Rng& rng) {
    for (size_t l = 0; l < cells.size(); ++l) {
        if (remembers(cells[l])) {
            append_cell(weights, cells[l], widths[l], widths[l + 1], hidden, rng);
            continue;
        }
        append_rows(weights, orthogonal(widths[l + 1], widths[l], rng), hidden);
        weights.insert(weights.end(), size_t(widths[l + 1]), 0.0f);
    }
    const size_t last = cells.size();
    const Matrix matrix = orthogonal(widths[last + 1], widths[last], rng);
    for (size_t o = 0; o < matrix.size(); ++o)
        for (const double x : matrix[o]) weights.push_back(float(x * gain(o)));
    for (size_t o = 0; o < matrix.size(); ++o) weights.push_back(float(bias(o)));
}

}

NetworkShape::NetworkShape(const PolicySettings& policy, const nacelle_environment& environment)
    : shared(policy.shared),
      elsewhere(policy.critic.there && !policy.is_critic()),
      free_deviation(policy.deviation == "free"),
      cells(policy.cells),
      own(policy.own.there()),
      own_parameters(int64_t(policy.own.weights.size())),
      own_memory(policy.own.memory) {
    const SchemaView schema(environment);
    seen = schema.seen(policy.group);
    if (policy.is_critic()) {
        const CriticSettings& sees = policy.critic;
        seen =
            int64_t(sees.numbers) + seen * ((sees.team ? policy.agents : 0) + (sees.own ? 1 : 0));
        free_deviation = false;
    } else {
        choices = schema.choices(policy.group);
        reals = schema.count(policy.group, nacelle::Kind::continuous);
        parts = reals + schema.count(policy.group, nacelle::Kind::discrete);
        encoder = encoder_of(policy, schema);
    }
    actor.push_back(encoder.count ? encoder.width() : seen);
    actor.insert(actor.end(), policy.hidden.begin(), policy.hidden.end());
    actor.push_back(outputs() + (shared ? 1 : 0));
    if (shared || elsewhere) return;
    critic = actor;
    critic.back() = 1;
}

std::vector<MatrixSize> NetworkShape::matrices(const std::vector<int64_t>& widths) const {
    std::vector<MatrixSize> all;
    for (size_t l = 0; l + 1 < widths.size(); ++l) {
        const Cell cell = l < cells.size() ? cells[l] : Cell::linear;
        for (int m = 0; m < matrices_of(cell); ++m)
            all.push_back(matrix_of(cell, m, widths[l], widths[l + 1]));
    }
    return all;
}
int64_t NetworkShape::count(const std::vector<int64_t>& widths) const {
    int64_t n = 0;
    for (const MatrixSize& matrix : matrices(widths)) n += parameters_in(matrix);
    return n;
}
int64_t NetworkShape::packed(const MatrixSize& matrix) {
    return (matrix.in + 1) * ((matrix.out + 15) / 16 * 16);
}
int64_t NetworkShape::packed(const std::vector<int64_t>& widths) const {
    int64_t n = 0;
    for (const MatrixSize& matrix : matrices(widths)) n += packed(matrix);
    return n;
}
int64_t NetworkShape::memory() const {
    if (own) return own_memory;
    int64_t n = 0;
    for (size_t l = 0; l < cells.size(); ++l) n += remembers(cells[l]) ? actor[l + 1] : 0;
    return networks() * n;
}

int64_t NetworkShape::packed(const Encoder& encoder) {
    int64_t n = 0;
    for (int l = 0; l < encoder.count; ++l)
        n += packed(MatrixSize{encoder.layer[l].patch(), encoder.layer[l].out});
    return n;
}

std::vector<float> initial_weights(const NetworkShape& shape, const PolicySettings& policy,
                                   uint64_t seed, uint32_t number) {
    if (shape.own) return policy.own.weights;
    nacelle::Rng rng(seed, nacelle::Domain::initialisation, 0, number);
    const int64_t first_deviation = shape.choices + int64_t(shape.reals), outputs = shape.outputs();
    const double start = std::log(policy.initial_deviation);
    const auto is_deviation = [&](size_t o) {
        return int64_t(o) >= first_deviation && int64_t(o) < outputs;
    };
    const auto gain = [&](size_t o) {
        if (int64_t(o) >= outputs) return policy.value_gain;
        return is_deviation(o) && shape.free_deviation ? 0.0 : policy.choice_gain;
    };
    std::vector<float> weights;
    weights.reserve(size_t(shape.parameters()));
    append_encoder(weights, shape.encoder, policy.hidden_gain, rng);
    append_network(
        weights, shape.actor, shape.cells, policy.hidden_gain, gain,
        [&](size_t o) { return is_deviation(o) ? start : 0.0; }, rng);
    if (shape.critic.empty()) return weights;
    append_encoder(weights, shape.encoder, policy.hidden_gain, rng);
    append_network(
        weights, shape.critic, shape.cells, policy.hidden_gain,
        [&](size_t) { return policy.value_gain; }, [](size_t) { return 0.0; }, rng);
    return weights;
}

}
