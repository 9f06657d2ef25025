#include "engine/export/onnx_graph.h"

namespace nacelle {
namespace {

// Fields of messages that are written alone.
namespace attribute {
constexpr uint32_t name = 1, integer = 3, tensor = 5, integers = 8, type = 20;
constexpr int64_t of_integer = 2, of_tensor = 4, of_integers = 7;
}
namespace node_fields {
constexpr uint32_t input = 1, output = 2, name = 3, operation = 4, attribute = 5;
}

template <class T> std::string_view raw_bytes(const std::vector<T>& numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

ProtoMessage tensor_proto(const std::string& name, onnx::Type type,
                          const std::vector<int64_t>& shape, std::string_view data) {
    ProtoMessage tensor;
    for (const int64_t size : shape) tensor.integer(onnx::tensor::dims, size);
    tensor.integer(onnx::tensor::type, type);
    if (!name.empty()) tensor.bytes(onnx::tensor::name, name);
    tensor.bytes(onnx::tensor::data, data);
    return tensor;
}

// A ValueInfoProto: a name and [rows][width] of a type.
ProtoMessage value_proto(const std::string& name, onnx::Type type, int64_t width) {
    ProtoMessage rows, columns, shape, form, kind, value;
    rows.bytes(2, "rows");
    columns.integer(1, width);
    shape.message(1, rows).message(1, columns);
    form.integer(1, type).message(2, shape);
    kind.message(1, form);
    value.bytes(1, name).message(2, kind);
    return value;
}

}

OnnxGraph::Value OnnxGraph::fresh(const std::string& operation) {
    return operation + "_" + std::to_string(++results_);
}

OnnxGraph::Value OnnxGraph::input(const std::string& name, onnx::Type type, int64_t width) {
    inputs_.push_back(value_proto(name, type, width));
    return name;
}
void OnnxGraph::output(const Value& value, int64_t width) {
    outputs_.push_back(value_proto(value, onnx::f32, width));
}
OnnxGraph::Value OnnxGraph::weight(const PolicyTensor& tensor) {
    initializers_.push_back(
        tensor_proto(tensor.name, onnx::f32, tensor.shape, raw_bytes(tensor.numbers)));
    return tensor.name;
}

OnnxGraph::Value OnnxGraph::constant(const ProtoMessage& tensor) {
    const Value result = fresh("Constant");
    ProtoMessage value, node;
    value.bytes(attribute::name, "value")
        .message(attribute::tensor, tensor)
        .integer(attribute::type, attribute::of_tensor);
    node.bytes(node_fields::output, result)
        .bytes(node_fields::name, result)
        .bytes(node_fields::operation, "Constant")
        .message(node_fields::attribute, value);
    nodes_.push_back(std::move(node));
    return result;
}
OnnxGraph::Value OnnxGraph::constant(const std::vector<float>& numbers,
                                     const std::vector<int64_t>& shape) {
    return constant(tensor_proto({}, onnx::f32, shape, raw_bytes(numbers)));
}
OnnxGraph::Value OnnxGraph::constant(const std::vector<int64_t>& numbers) {
    return constant(tensor_proto({}, onnx::i64, {int64_t(numbers.size())}, raw_bytes(numbers)));
}

void OnnxGraph::add_node(const std::string& operation, const Values& inputs, const Values& outputs,
                         const std::vector<Attribute>& attributes) {
    ProtoMessage node;
    for (const Value& value : inputs) node.bytes(node_fields::input, value);
    for (const Value& value : outputs) node.bytes(node_fields::output, value);
    node.bytes(node_fields::name, outputs.front());
    node.bytes(node_fields::operation, operation);
    for (const Attribute& one : attributes) {
        ProtoMessage its;
        its.bytes(attribute::name, one.name);
        for (const int64_t value : one.integers)
            its.integer(one.list ? attribute::integers : attribute::integer, value);
        its.integer(attribute::type, one.list ? attribute::of_integers : attribute::of_integer);
        node.message(node_fields::attribute, its);
    }
    nodes_.push_back(std::move(node));
}

OnnxGraph::Value OnnxGraph::node(const std::string& operation, const Values& inputs,
                                 const std::vector<Attribute>& attributes, const Value& result) {
    const Value named = result.empty() ? fresh(operation) : result;
    add_node(operation, inputs, {named}, attributes);
    return named;
}

OnnxGraph::Values OnnxGraph::split(const Value& value, const std::vector<int64_t>& widths) {
    if (widths.size() == 1) return {value};
    const Value sizes = constant(widths);
    Values parts;
    for (size_t i = 0; i < widths.size(); ++i) parts.push_back(fresh("Split"));
    add_node("Split", {value, sizes}, parts, {integer("axis", 1)});
    return parts;
}

OnnxGraph::Value OnnxGraph::join(const Values& values, const Value& result) {
    if (values.size() == 1)
        return result.empty() ? values[0] : node("Identity", values, {}, result);
    return node("Concat", values, {integer("axis", 1)}, result);
}

OnnxGraph::Value OnnxGraph::columns(const Value& value, const std::vector<int64_t>& chosen) {
    return node("Gather", {value, constant(chosen)}, {integer("axis", 1)});
}

std::string OnnxGraph::bytes(const std::string& name) const {
    ProtoMessage graph;
    for (const ProtoMessage& node : nodes_) graph.message(onnx::graph::node, node);
    graph.bytes(onnx::graph::name, name);
    for (const ProtoMessage& one : initializers_) graph.message(onnx::graph::initializer, one);
    for (const ProtoMessage& one : inputs_) graph.message(onnx::graph::input, one);
    for (const ProtoMessage& one : outputs_) graph.message(onnx::graph::output, one);
    return graph.all();
}

}
