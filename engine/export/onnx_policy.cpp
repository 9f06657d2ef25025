#include "engine/export/onnx_policy.h"

#include "engine/base/error.h"
#include "engine/export/onnx_graph.h"

#include <limits>

namespace nacelle {
namespace {

using Value = OnnxGraph::Value;
using Values = OnnxGraph::Values;

constexpr int64_t ir_version = 8, opset = 18;
constexpr const char* producer = "nacelle";
// Of a message of Protocol Buffers.
constexpr size_t most_bytes = size_t(1) << 31;

// The nodes of a policy.
class PolicyGraph final {
public:
    PolicyGraph(const OpenedPolicy& opened, const PolicyContent& content)
        : policy_(*opened.policy), description_(policy_.description()) {
        for (const PolicyTensor& tensor : content.tensors) graph_.weight(tensor);
        raw_ = graph_.input("observations", onnx::f32, int64_t(description_.inputs()));
        if (description_.choices())
            masks_ = graph_.input("masks", onnx::boolean, int64_t(description_.choices()));
        normalised_ = normalise();
        const auto [last, outputs] = network("policy/", "memory");
        act(outputs);
        if (!policy_.value_layers().empty()) add_value(last);
    }
    std::string bytes() const { return graph_.bytes(description_.name); }

private:
    // What the last layer sees, and its outputs.
    struct Passed {
        Value last, outputs;
    };

    Value normalise() {
        if (policy_.mean().empty()) return raw_;
        const Value centred = graph_.node("Sub", {raw_, "policy/normaliser.mean"});
        const Value scaled = graph_.node("Mul", {centred, "policy/normaliser.scale"});
        return clip(scaled, -description_.bound, description_.bound);
    }
    Value clip(const Value& x, float low, float high) {
        return graph_.node("Clip", {x, graph_.scalar(low), graph_.scalar(high)});
    }
    Value activate(const Value& x) {
        switch (description_.activation) {
            case PolicyActivation::tanh: return graph_.node("Tanh", {x});
            case PolicyActivation::relu: return graph_.node("Relu", {x});
            case PolicyActivation::silu:
                return graph_.node("Mul", {x, graph_.node("Sigmoid", {x})});
            case PolicyActivation::gelu: break;
        }
        // 0.5 x (1 + tanh(0.798 x (1 + 0.0447 x x)))
        const Value one = graph_.scalar(1);
        const Value squares = graph_.node("Mul", {x, x});
        const Value bent =
            graph_.node("Add", {one, graph_.node("Mul", {squares, graph_.scalar(0.044715f)})});
        const Value inner =
            graph_.node("Mul", {graph_.node("Mul", {x, graph_.scalar(0.7978845608f)}), bent});
        const Value gate = graph_.node("Add", {one, graph_.node("Tanh", {inner})});
        return graph_.node("Mul", {graph_.node("Mul", {x, graph_.scalar(0.5f)}), gate});
    }
    Value dense(const Value& x, const std::string& name) {
        return graph_.node("Gemm", {x, name + ".weight", name + ".bias"},
                           {OnnxGraph::integer("transB", 1)});
    }

    // The images of all rows, [rows][channels][row][column].
    Value images() {
        const PolicyEncoder& encoder = description_.encoder;
        const std::vector<size_t> places = encoder.places();
        Value seen =
            graph_.columns(encoder.codes ? raw_ : normalised_, {places.begin(), places.end()});
        if (encoder.codes) {
            std::vector<float> codes;
            for (size_t code = 0; code < encoder.codes; ++code) codes.push_back(float(code));
            const Value each = graph_.node("Unsqueeze", {seen, graph_.constant({2})});
            const Value equal =
                graph_.node("Equal", {each, graph_.constant(codes, {int64_t(encoder.codes)})});
            seen = graph_.node("Cast", {equal}, {OnnxGraph::integer("to", onnx::f32)});
        }
        const Value shape = graph_.constant({0, int64_t(encoder.rows), int64_t(encoder.columns),
                                             int64_t(encoder.layers.front().channels)});
        return graph_.node("Transpose", {graph_.node("Reshape", {seen, shape})},
                           {{"perm", {0, 3, 1, 2}}});
    }
    // What the first layer behind the convolutions sees.
    Value encoded(const std::string& network) {
        const PolicyEncoder& encoder = description_.encoder;
        if (encoder.empty()) return normalised_;
        Value x = images();
        for (size_t l = 0; l < encoder.layers.size(); ++l) {
            const PolicyEncoder::Layer& layer = encoder.layers[l];
            const std::string name = network + "convolutions." + std::to_string(l);
            const auto rows = int64_t(layer.kernel_rows), columns = int64_t(layer.kernel_columns),
                       stride = int64_t(layer.stride), pad = int64_t(layer.padding);
            x = activate(graph_.node("Conv", {x, name + ".weight", name + ".bias"},
                                     {{"kernel_shape", {rows, columns}},
                                      {"pads", {pad, pad, pad, pad}},
                                      {"strides", {stride, stride}}}));
        }
        x = graph_.node("Transpose", {x}, {{"perm", {0, 2, 3, 1}}});
        Values parts = {graph_.node(
            "Reshape", {x, graph_.constant({0, int64_t(encoder.layers.back().features())})})};
        if (!encoder.others.empty())
            parts.push_back(
                graph_.columns(normalised_, {encoder.others.begin(), encoder.others.end()}));
        return graph_.join(parts);
    }

    Value step_mingru(const Value& x, const Value& h, const std::string& name, int64_t neurons) {
        const Values gates = graph_.split(dense(x, name), {neurons, neurons});
        const Value z = graph_.node("Sigmoid", {gates[0]});
        const Value further = graph_.node("Sub", {activate(gates[1]), h});
        return graph_.node("Add", {h, graph_.node("Mul", {z, further})});
    }
    Value step_gru(const Value& x, const Value& h, const std::string& name, int64_t neurons) {
        const std::vector<int64_t> three = {neurons, neurons, neurons};
        const Values gates = graph_.split(dense(x, name), three),
                     own = graph_.split(dense(h, name + ".memory"), three);
        const auto gate = [&](size_t i) {
            return graph_.node("Sigmoid", {graph_.node("Add", {gates[i], own[i]})});
        };
        const Value r = gate(0), z = gate(1);
        const Value n =
            graph_.node("Tanh", {graph_.node("Add", {gates[2], graph_.node("Mul", {r, own[2]})})});
        return graph_.node("Add", {n, graph_.node("Mul", {z, graph_.node("Sub", {h, n})})});
    }

    // The layers of one network; `memory` is the name of what it remembers.
    Passed network(const std::string& network, const std::string& memory) {
        std::vector<int64_t> widths;
        for (size_t l = 0; l < description_.cells.size(); ++l)
            if (remembers(description_.cell(l)))
                widths.push_back(int64_t(description_.sizes[l + 1]));
        Values before, after;
        if (!widths.empty())
            before = graph_.split(graph_.input(memory, onnx::f32, int64_t(description_.memory())),
                                  widths);
        Passed passed{.last = encoded(network), .outputs = {}};
        const size_t layers = description_.sizes.size() - 1;
        for (size_t l = 0; l < layers; ++l) {
            const std::string name = network + "layers." + std::to_string(l);
            const PolicyCell cell = description_.cell(l);
            if (remembers(cell)) {
                const auto neurons = int64_t(description_.sizes[l + 1]);
                const Value h = before[after.size()];
                after.push_back(cell == PolicyCell::gru
                                    ? step_gru(passed.last, h, name, neurons)
                                    : step_mingru(passed.last, h, name, neurons));
                passed.last = after.back();
            } else if (l + 1 < layers) passed.last = activate(dense(passed.last, name));
            else passed.outputs = dense(passed.last, name);
        }
        if (!after.empty())
            graph_.output(graph_.join(after, "next_" + memory), int64_t(description_.memory()));
        return passed;
    }

    // From [-1, 1] to the bounds, as `stretched` of choose.h does.
    Value stretch(const Value& mean, const ActionRange& range) {
        const Value unit = description_.squash ? graph_.node("Tanh", {mean}) : clip(mean, -1, 1);
        const Value half = graph_.scalar((range.high - range.low) * 0.5f);
        const Value along =
            graph_.node("Mul", {half, graph_.node("Add", {unit, graph_.scalar(1)})});
        return clip(graph_.node("Add", {graph_.scalar(range.low), along}), range.low, range.high);
    }
    Value choose(const Value& scores, const Value& open) {
        const Value none = graph_.scalar(-std::numeric_limits<float>::infinity());
        const Value best =
            graph_.node("ArgMax", {graph_.node("Where", {open, scores, none})},
                        {OnnxGraph::integer("axis", 1), OnnxGraph::integer("keepdims", 1)});
        return graph_.node("Cast", {best}, {OnnxGraph::integer("to", onnx::f32)});
    }
    void act(const Value& outputs) {
        const std::vector<PolicyPart>& parts = description_.actions;
        std::vector<int64_t> widths, choices;
        for (const PolicyPart& part : parts) {
            widths.push_back(part.range.choices ? part.range.choices : 1);
            if (part.range.choices) choices.push_back(part.range.choices);
        }
        const auto reals = int64_t(description_.reals());
        if (description_.draws && reals) widths.push_back(reals);
        const Values columns = graph_.split(outputs, widths);
        const Values open = choices.empty() ? Values() : graph_.split(masks_, choices);
        Values actions, logits, means;
        for (size_t p = 0; p < parts.size(); ++p) {
            const ActionRange& range = parts[p].range;
            if (range.choices) {
                actions.push_back(choose(columns[p], open[logits.size()]));
                logits.push_back(columns[p]);
            } else {
                actions.push_back(stretch(columns[p], range));
                means.push_back(columns[p]);
            }
        }
        graph_.output(graph_.join(actions, "actions"), int64_t(parts.size()));
        if (!logits.empty())
            graph_.output(graph_.join(logits, "logits"), int64_t(description_.choices()));
        if (means.empty()) return;
        graph_.output(graph_.join(means, "means"), reals);
        if (!description_.draws) return;
        const Value bounded =
            clip(columns.back(), description_.least_log_deviation, description_.most_log_deviation);
        graph_.output(graph_.join({bounded}, "log_deviations"), reals);
    }
    void add_value(const Value& last) {
        const std::string own = "value/layers." + std::to_string(description_.sizes.size() - 2);
        const Value value =
            policy_.shares_layers() ? dense(last, own) : network("value/", "value_memory").outputs;
        graph_.output(graph_.join({value}, "value"),
                      int64_t(policy_.value_layers().back().outputs));
    }

    OnnxGraph graph_;
    const TrainedPolicy& policy_;
    const PolicyDescription& description_;
    Value raw_, masks_, normalised_;
};

}

std::string onnx_of(const OpenedPolicy& opened) {
    const PolicyContent content = content_of(opened);
    const std::string graph = PolicyGraph(opened, content).bytes();
    ProtoMessage model, version;
    version.bytes(1, "").integer(2, opset);
    model.integer(onnx::model::ir_version, ir_version)
        .bytes(onnx::model::producer, producer)
        .bytes(onnx::model::producer_version, NACELLE_VERSION)
        .bytes(onnx::model::graph, graph)
        .message(onnx::model::opset, version);
    SafetensorsMetadata metadata = content.metadata;
    metadata[onnx::graph_hash_key] = hash_of_graph(graph, "ONNX");
    for (const auto& [key, value] : metadata) {
        ProtoMessage entry;
        entry.bytes(onnx::entry::key, key).bytes(onnx::entry::value, value);
        model.message(onnx::model::metadata, entry);
    }
    if (model.all().size() >= most_bytes)
        throw Error("--to onnx", "a file of ONNX holds less than 2 GB; this policy has more",
                    "--to safetensors");
    return model.all();
}

}
