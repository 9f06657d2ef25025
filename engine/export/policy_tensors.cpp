#include "engine/export/policy_tensors.h"

#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/policy/read_policy_description.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace nacelle {
namespace {

constexpr const char *format_key = "format", *format_name = "nacelle.policy.1";
constexpr const char *environment_key = "environment", *steps_key = "steps",
                     *policies_key = "policies";
constexpr const char *weights_name = "policy", *mean_name = "policy/normaliser.mean",
                     *scale_name = "policy/normaliser.scale";

// How the numbers of a matrix lie in a tensor; those of a convolution lie [row][column][in] in the matrix.
struct TensorShape {
    std::vector<int64_t> shape;
    size_t positions = 1;    // of a convolution's kernel
};
TensorShape shape_of(const DenseLayer& matrix, const PolicyEncoder::Layer* convolution) {
    const auto out = int64_t(matrix.outputs);
    if (!convolution) return {{out, int64_t(matrix.inputs)}};
    return {{out, int64_t(convolution->channels), int64_t(convolution->kernel_rows),
             int64_t(convolution->kernel_columns)},
            convolution->kernel_rows * convolution->kernel_columns};
}
// fn(place in the tensor, place in the matrix) for each weight.
template <class Fn> void each_weight(const DenseLayer& matrix, size_t positions, Fn&& fn) {
    const size_t channels = matrix.inputs / positions;
    for (size_t o = 0; o < matrix.outputs; ++o)
        for (size_t p = 0; p < positions; ++p)
            for (size_t c = 0; c < channels; ++c)
                fn((o * channels + c) * positions + p, (o * positions + p) * channels + c);
}

// A matrix by the name of its tensors, in the order of the flat array's parts.
struct NamedMatrix {
    std::string name;
    DenseLayer matrix;    // without numbers where a policy is read
    const PolicyEncoder::Layer* convolution;
};

void add(std::vector<NamedMatrix>& to, const std::string& network,
         const PolicyDescription& description, const NetworkLayout& layout) {
    for (size_t i = 0; i < layout.filters.size(); ++i) {
        const PolicyMatrix& m = layout.filters[i];
        to.push_back({network + m.name,
                      {nullptr, nullptr, m.inputs, m.outputs},
                      &description.encoder.layers[i]});
    }
    for (const PolicyMatrix& m : layout.layers)
        to.push_back({network + m.name, {nullptr, nullptr, m.inputs, m.outputs}, nullptr});
}

struct NamedMatrices {
    std::vector<NamedMatrix> policy, value;
};
// A value that shares the policy's layers has one of its own, the last.
NamedMatrices named_matrices(const PolicyDescription& description) {
    NamedMatrices named;
    const PolicyLayout layout = policy_layout(description);
    add(named.policy, "policy/", description, layout.policy);
    if (layout.values == 0) {
        add(named.value, "value/", description, layout.critic);
        return named;
    }
    DenseLayer& last = named.policy.back().matrix;
    last.outputs = description.outputs();
    named.value.push_back({"value/" + layout.policy.layers.back().name,
                           {nullptr, nullptr, last.inputs, layout.values},
                           nullptr});
    return named;
}

void put_matrix(const NamedMatrix& named, const DenseLayer& from, std::vector<PolicyTensor>& to) {
    const TensorShape form = shape_of(from, named.convolution);
    PolicyTensor weight{named.name + ".weight", form.shape,
                        std::vector<float>(from.inputs * from.outputs)};
    each_weight(from, form.positions,
                [&](size_t there, size_t here) { weight.numbers[there] = from.weights[here]; });
    to.push_back(std::move(weight));
    to.push_back({named.name + ".bias",
                  {int64_t(from.outputs)},
                  std::vector<float>(from.biases, from.biases + from.outputs)});
}

void put_network(const std::vector<NamedMatrix>& named, const std::vector<DenseLayer>& filters,
                 const std::vector<DenseLayer>& layers, std::vector<PolicyTensor>& to) {
    for (size_t i = 0; i < filters.size() + layers.size(); ++i)
        put_matrix(named[i], i < filters.size() ? filters[i] : layers[i - filters.size()], to);
}

// The tensors of a file, each of which is asked for once.
class TensorsByName final {
public:
    TensorsByName(const std::vector<PolicyTensor>& tensors, const std::string& where)
        : tensors_(tensors), where_(where) {}

    bool has(const std::string& name) const { return find(name) != tensors_.end(); }
    const std::vector<float>& numbers(const std::string& name, const std::vector<int64_t>& shape) {
        const auto found = find(name);
        const std::string wanted = PolicyTensor{name, shape, {}}.form();
        if (found == tensors_.end())
            throw Error(where_, "is damaged: it has no " + name + ", " + wanted);
        if (found->shape != shape)
            throw Error(where_, "is damaged: its " + name + " is " + found->form() +
                                    "; the policy needs " + wanted);
        taken_.insert(name);
        return found->numbers;
    }
    // Weights and biases behind those of `to`.
    void append(const NamedMatrix& named, std::vector<float>& weights, std::vector<float>& biases) {
        const TensorShape form = shape_of(named.matrix, named.convolution);
        const std::vector<float>& from = numbers(named.name + ".weight", form.shape);
        const size_t first = weights.size();
        weights.resize(first + from.size());
        each_weight(named.matrix, form.positions,
                    [&](size_t there, size_t here) { weights[first + here] = from[there]; });
        const std::vector<float>& bias =
            numbers(named.name + ".bias", {int64_t(named.matrix.outputs)});
        biases.insert(biases.end(), bias.begin(), bias.end());
    }
    void require_all_taken() const {
        for (const PolicyTensor& tensor : tensors_)
            if (!taken_.contains(tensor.name))
                throw Error(where_, "has " + printable(tensor.name) + ", " + tensor.form() +
                                        ", which is no part of its policy");
    }

private:
    std::vector<PolicyTensor>::const_iterator find(const std::string& name) const {
        return std::find_if(tensors_.begin(), tensors_.end(),
                            [&](const PolicyTensor& tensor) { return tensor.name == name; });
    }
    const std::vector<PolicyTensor>& tensors_;
    const std::string& where_;
    std::set<std::string> taken_;
};

// The flat array that the description speaks of.
std::vector<float> flat_weights(const PolicyDescription& description, TensorsByName& tensors) {
    const NamedMatrices named = named_matrices(description);
    const bool shares = description.sizes.back() > description.outputs();
    std::vector<float> flat;
    const auto append = [&](const NamedMatrix& one, const NamedMatrix* beside) {
        std::vector<float> weights, biases;
        tensors.append(one, weights, biases);
        if (beside) tensors.append(*beside, weights, biases);
        flat.insert(flat.end(), weights.begin(), weights.end());
        flat.insert(flat.end(), biases.begin(), biases.end());
    };
    for (const NamedMatrix& one : named.policy)
        append(one, shares && &one == &named.policy.back() ? &named.value.front() : nullptr);
    if (!shares && tensors.has(named.value.front().name + ".weight"))
        for (const NamedMatrix& one : named.value) append(one, nullptr);
    return flat;
}

std::string text_of(const SafetensorsMetadata& metadata, const char* key) {
    const auto found = metadata.find(key);
    return found == metadata.end() ? "" : found->second;
}

}

std::string PolicyTensor::form() const { return Tensor{.name = name, .shape = shape}.form(); }

PolicyContent content_of(const OpenedPolicy& opened) {
    const TrainedPolicy& policy = *opened.policy;
    const PolicyDescription& description = policy.description();
    PolicyContent content;
    Json told = opened.told;
    told["network"]["weights"] = weights_name;
    told["network"]["biases"] = "behind";
    const NamedMatrices named = named_matrices(description);
    if (!policy.mean().empty()) {
        told["normaliser"]["mean"] = mean_name;
        told["normaliser"]["scale"] = scale_name;
        const std::vector<int64_t> shape = {int64_t(description.inputs())};
        content.tensors.push_back({mean_name, shape, policy.mean()});
        content.tensors.push_back({scale_name, shape, policy.scale()});
    }
    put_network(named.policy, policy.filters(), policy.layers(), content.tensors);
    put_network(named.value, policy.value_filters(), policy.value_layers(), content.tensors);
    content.metadata = {{format_key, format_name},
                        {environment_key, opened.environment},
                        {steps_key, std::to_string(opened.steps)},
                        {policies_key, json_text(Json{{description.name, told}})}};
    return content;
}

OpenedPolicy policy_of(const PolicyContent& content, const std::string& where) {
    const std::string format = text_of(content.metadata, format_key);
    if (format.empty())
        throw Error(where,
                    "was not written by 'nacelle export': nothing in it says what its arrays "
                    "do with an observation",
                    "a file of 'nacelle export', or a run's directory");
    if (format != format_name)
        throw Error(where, "is of the form '" + printable(format) + "'",
                    std::string("this version of Nacelle reads ") + format_name);
    const std::string steps_text = text_of(content.metadata, steps_key);
    uint64_t steps = 0;
    const char* const end = steps_text.data() + steps_text.size();
    if (const auto read = std::from_chars(steps_text.data(), end, steps);
        read.ec != std::errc() || read.ptr != end)
        throw Error(where, "is damaged: its number of steps is '" + printable(steps_text) + "'");
    const Json policies = parse_json(text_of(content.metadata, policies_key), where);
    if (!policies.is_object()) throw Error(where, "is damaged: it describes no policy");
    PolicyDescription description = read_policy_description(policies, {}, where);
    Json told = policies[description.name];
    TensorsByName tensors(content.tensors, where);
    const PolicyDescription copy = description;
    const auto read = [&](const std::string& name) {
        if (name == copy.weights) return flat_weights(copy, tensors);
        return tensors.numbers(name, {int64_t(copy.inputs())});
    };
    auto policy = std::make_shared<const TrainedPolicy>(std::move(description), read, where);
    tensors.require_all_taken();
    return {.policy = std::move(policy),
            .environment = text_of(content.metadata, environment_key),
            .steps = steps,
            .told = std::move(told)};
}

}
