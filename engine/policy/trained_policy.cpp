#include "engine/policy/trained_policy.h"

#include "engine/base/error.h"
#include "engine/base/finite.h"

#include <algorithm>
#include <memory>

namespace nacelle {
namespace {

// Memory of the rows on their way.
struct alignas(64) ScratchLine {
    float at[16];
};

void require_finite(const std::vector<float>& numbers, const std::string& array,
                    const std::string& where) {
    if (first_not_finite(numbers.data(), numbers.size()) != numbers.size())
        throw Error(where, "its " + array + " has numbers that are not finite: training failed");
}

std::vector<float> numbers_of(const TrainedPolicy::ReadFloats& read, const std::string& array,
                              size_t count, const std::string& where) {
    std::vector<float> numbers = read(array);
    if (numbers.size() < count)
        throw Error(where, "is damaged: its " + array + " has " + std::to_string(numbers.size()) +
                               " numbers; the policy needs " + std::to_string(count));
    require_finite(numbers, array, where);
    return numbers;
}

// The weights of a layer, then its biases, from rows that end with the bias.
void part_rows(float* layer, size_t inputs, size_t outputs) {
    const std::vector<float> rows(layer, layer + (inputs + 1) * outputs);
    for (size_t o = 0; o < outputs; ++o) {
        const float* const row = rows.data() + o * (inputs + 1);
        std::copy(row, row + inputs, layer + o * inputs);
        layer[outputs * inputs + o] = row[inputs];
    }
}

std::string counted_numbers(size_t count) { return std::to_string(count) + " numbers"; }

DenseLayer layer_at(const std::vector<float>& numbers, const PolicyMatrix& matrix) {
    return {.weights = numbers.data() + matrix.first,
            .biases = numbers.data() + matrix.biases(),
            .inputs = matrix.inputs,
            .outputs = matrix.outputs};
}
std::vector<DenseLayer> layers_at(const std::vector<float>& numbers,
                                  const std::vector<PolicyMatrix>& matrices) {
    std::vector<DenseLayer> layers;
    for (const PolicyMatrix& matrix : matrices) layers.push_back(layer_at(numbers, matrix));
    return layers;
}

}

TrainedPolicy::TrainedPolicy(PolicyDescription description, const ReadFloats& read,
                             const std::string& where)
    : description_(std::move(description)) {
    const std::vector<size_t>& sizes = description_.sizes;
    const PolicyEncoder& encoder = description_.encoder;
    const PolicyLayout layout = policy_layout(description_);
    numbers_ = numbers_of(read, description_.weights, layout.policy.end, where);
    if (!description_.mean.empty()) {
        mean_ = numbers_of(read, description_.mean, description_.inputs(), where);
        scale_ = numbers_of(read, description_.scale, description_.inputs(), where);
        for (std::vector<float>* const numbers : {&mean_, &scale_})
            numbers->resize(description_.inputs());
    }
    if (description_.biases_in_rows)
        for (const PolicyMatrix& matrix : layout.policy.layers)
            part_rows(numbers_.data() + matrix.first, matrix.inputs, matrix.outputs);
    filters_ = layers_at(numbers_, layout.policy.filters);
    layers_ = layers_at(numbers_, layout.policy.layers);
    DenseLayer& last = layers_.back();
    last.outputs = description_.outputs();
    if (layout.values > 0)
        value_layers_.push_back({.weights = last.weights + last.outputs * last.inputs,
                                 .biases = last.biases + last.outputs,
                                 .inputs = last.inputs,
                                 .outputs = layout.values});
    else if (numbers_.size() == layout.critic.end) {
        value_filters_ = layers_at(numbers_, layout.critic.filters);
        value_layers_ = layers_at(numbers_, layout.critic.layers);
    }
    if (description_.memory() > 0)
        for (size_t l = 0; l + 1 < sizes.size(); ++l) cells_.push_back(description_.cell(l));
    widest_ = *std::max_element(sizes.begin(), sizes.end());
    beside_ = encoder.largest_patch();
    if (!encoder.empty()) widest_ = std::max(widest_, encoder.widest());
    for (size_t l = 0; l < cells_.size(); ++l)
        if (remembers(cells_[l]))
            beside_ = std::max(beside_, ForwardPass::beside_cell(sizes[l + 1]));
    for (const PolicyPart& part : description_.actions) parts_.push_back(part.range);
}

ActionForm TrainedPolicy::form(const ActionRange* parts) const {
    return {.parts = parts,
            .count = uint32_t(parts_.size()),
            .choices = uint32_t(description_.choices()),
            .deviations = uint32_t(description_.choices() + description_.reals()),
            .squash = description_.squash,
            .least_log_deviation = description_.least_log_deviation,
            .most_log_deviation = description_.most_log_deviation};
}

size_t TrainedPolicy::rows_of(std::span<const float> observations, std::span<float> actions,
                              std::span<const uint8_t> masks) const {
    const size_t inputs = description_.inputs(), parts = description_.actions.size(),
                 choices = description_.choices();
    const size_t rows = observations.size() / inputs;
    if (observations.size() % inputs)
        throw Error("Policy::act",
                    counted_numbers(observations.size()) + " are no whole rows of observations",
                    "a row of '" + description_.name + "' has " + std::to_string(inputs));
    if (actions.size() != rows * parts)
        throw Error("Policy::act", std::to_string(rows) + " rows need room for " +
                                       counted_numbers(rows * parts) + ", " +
                                       std::to_string(parts) + " a row; there is room for " +
                                       std::to_string(actions.size()));
    if (!masks.empty() && masks.size() != rows * choices)
        throw Error("Policy::act",
                    choices
                        ? "a mask has " + std::to_string(choices) + " bytes a row, " +
                              std::to_string(rows * choices) + " in all; there are " +
                              std::to_string(masks.size())
                        : "'" + description_.name + "' has no choices that a mask could forbid");
    return rows;
}

void TrainedPolicy::require_finite_rows(std::span<const float> observations) const {
    const size_t inputs = description_.inputs(),
                 wrong = first_not_finite(observations.data(), observations.size());
    if (wrong != observations.size())
        throw Error("Policy::act", "number " + std::to_string(wrong % inputs) + " of row " +
                                       std::to_string(wrong / inputs) +
                                       " of the observations is not finite");
}

void TrainedPolicy::require_memory(size_t rows, std::span<const float> memory) const {
    const size_t each = description_.memory();
    if (memory.size() == rows * each) return;
    if (each == 0)
        throw Error("Policy::act",
                    "'" + description_.name + "' remembers nothing from step to step");
    throw Error("Policy::act",
                "'" + description_.name + "' remembers " + counted_numbers(each) +
                    " of each row, " + std::to_string(rows * each) +
                    " in all; there is memory for " + std::to_string(memory.size()),
                "memory is 0 where an episode begins");
}

// fn(row, its outputs) for all.
template <class Fn>
void TrainedPolicy::each_row(std::span<const float> observations, std::span<float> memory,
                             Fn&& fn) const {
    const PolicyEncoder& encoder = description_.encoder;
    const size_t inputs = description_.inputs(), rows = observations.size() / inputs,
                 remembered = description_.memory();
    const size_t floats = ForwardPass::scratch_floats(widest_, beside_);
    const auto scratch = std::make_unique_for_overwrite<ScratchLine[]>((floats + 15) / 16);
    for (size_t first = 0; first < rows; first += ForwardPass::most_rows) {
        const ForwardPass pass{.observations = observations.data() + first * inputs,
                               .rows = std::min(rows - first, ForwardPass::most_rows),
                               .mean = mean_.empty() ? nullptr : mean_.data(),
                               .scale = scale_.data(),
                               .bound = description_.bound,
                               .layers = layers_.data(),
                               .layer_count = description_.sizes.size() - 1,
                               .activation = description_.activation,
                               .scratch = scratch[0].at,
                               .encoder = encoder.empty() ? nullptr : &encoder,
                               .filters = filters_.data(),
                               .seen = inputs,
                               .cells = cells_.empty() ? nullptr : cells_.data(),
                               .memory = memory.data() + first * remembered,
                               .remembered = remembered};
        const float* const out = forward(pass);
        for (size_t i = 0; i < pass.rows; ++i) fn(first + i, RowOutputs{out + i, pass.stride()});
    }
}

void TrainedPolicy::act(std::span<const float> observations, std::span<float> actions,
                        std::span<const uint8_t> masks, const Draws* draws,
                        std::span<float> memory) const {
    const size_t rows = rows_of(observations, actions, masks), parts = parts_.size(),
                 choices = description_.choices();
    require_memory(rows, memory);
    require_finite_rows(observations);
    const ActionForm form = this->form(parts_.data());
    each_row(observations, memory, [&](size_t row, const RowOutputs& outputs) {
        const uint8_t* const mask = masks.empty() ? nullptr : masks.data() + row * choices;
        float* const action = actions.data() + row * parts;
        if (draws && description_.draws) {
            const uint32_t whose = draws->rows.empty() ? uint32_t(row) : draws->rows[row];
            RowDice dice(draws->seed, draws->step, whose, description_.noise_steps);
            drawn_action(form, outputs, mask, dice, action);
        } else best_action(form, outputs, mask, action);
    });
}

}
