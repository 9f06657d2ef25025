#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/export/onnx_graph.h"
#include "engine/export/onnx_policy.h"

namespace nacelle {
namespace {

std::string_view bytes_of(const ProtoField& field, const std::string& where) {
    if (!field.has_bytes) throw Error(where, "is damaged: a number stands where a text belongs");
    return field.bytes;
}

PolicyTensor read_tensor(std::string_view proto, const std::string& where) {
    PolicyTensor tensor;
    std::string_view data;
    uint64_t type = 0;
    for (const ProtoField& field : read_proto(proto, where)) {
        if (field.number == onnx::tensor::dims && !field.has_bytes)
            tensor.shape.push_back(int64_t(field.integer));
        else if (field.number == onnx::tensor::type) type = field.integer;
        else if (field.number == onnx::tensor::name) tensor.name = bytes_of(field, where);
        else if (field.number == onnx::tensor::data) data = bytes_of(field, where);
    }
    const Tensor form{.name = tensor.name, .shape = tensor.shape};
    if (type != onnx::f32 || form.bytes() != data.size())
        throw Error(where, "keeps its weights in another form than 'nacelle export' writes");
    tensor.numbers.resize(data.size() / sizeof(float));
    std::copy(data.begin(), data.end(), reinterpret_cast<char*>(tensor.numbers.data()));
    return tensor;
}

std::pair<std::string, std::string> read_entry(std::string_view proto, const std::string& where) {
    std::pair<std::string, std::string> entry;
    for (const ProtoField& field : read_proto(proto, where)) {
        if (field.number == onnx::entry::key) entry.first = bytes_of(field, where);
        if (field.number == onnx::entry::value) entry.second = bytes_of(field, where);
    }
    return entry;
}

}

std::string hash_of_graph(std::string_view graph, const std::string& where) {
    std::string rest;
    for (const ProtoField& field : read_proto(graph, where))
        if (field.number != onnx::graph::initializer) rest += field.written;
    return Hash().add(rest).hex();
}

PolicyContent read_onnx(std::string_view file, const std::string& where) {
    PolicyContent content;
    std::string_view graph;
    for (const ProtoField& field : read_proto(file, where)) {
        if (field.number == onnx::model::graph) graph = bytes_of(field, where);
        if (field.number == onnx::model::metadata)
            content.metadata.insert(read_entry(bytes_of(field, where), where));
    }
    const auto written = content.metadata.find(onnx::graph_hash_key);
    if (written == content.metadata.end())
        throw Error(where,
                    "is no ONNX file of 'nacelle export': Nacelle plays its own, and runs no graph "
                    "of others (onnxruntime does)");
    if (written->second != hash_of_graph(graph, where))
        throw Error(where, "has another graph than 'nacelle export' wrote: a tool has changed it",
                    "onnxruntime runs any graph; Nacelle plays the file as it was written");
    for (const ProtoField& field : read_proto(graph, where))
        if (field.number == onnx::graph::initializer)
            content.tensors.push_back(read_tensor(bytes_of(field, where), where));
    return content;
}

}
