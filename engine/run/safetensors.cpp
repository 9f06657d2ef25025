#include "engine/run/safetensors.h"

#include "engine/arrays/dtype.h"
#include "engine/base/error.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>

namespace nacelle {
namespace {

using Json = nlohmann::json;

// In the order of Dtype.
constexpr const char* names[] = {"F32", "F64", "I32", "U32", "I64", "U64",
                                 "I16", "U16", "I8",  "U8",  "BOOL"};

constexpr size_t length_bytes = 8;

[[noreturn]] void refuse(const std::string& where, const std::string& why) {
    throw Error(where, "is no safetensors file: " + why);
}

std::vector<size_t> widest_first(const std::vector<Tensor>& tensors) {
    std::vector<size_t> order(tensors.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return dtype_size(tensors[a].dtype) > dtype_size(tensors[b].dtype);
    });
    return order;
}

Tensor tensor_of(const std::string& name, const Json& entry, std::span<const std::byte> data) {
    Tensor tensor{.name = name};
    const std::string type = entry.at("dtype").get<std::string>();
    const auto* const found = std::find(std::begin(names), std::end(names), type);
    if (found == std::end(names)) throw std::runtime_error("'" + name + "' is of type " + type);
    tensor.dtype = static_cast<Dtype>(found - std::begin(names));
    tensor.shape = entry.at("shape").get<std::vector<int64_t>>();
    const auto place = entry.at("data_offsets").get<std::vector<uint64_t>>();
    if (place.size() != 2 || place[0] > place[1] || place[1] > data.size() ||
        place[1] - place[0] != tensor.bytes())
        throw std::runtime_error("the place of '" + name + "' is wrong");
    tensor.data = data.subspan(place[0], place[1] - place[0]);
    return tensor;
}

}

size_t Tensor::bytes() const {
    size_t count = dtype_size(dtype);
    for (const int64_t size : shape) count *= static_cast<size_t>(size);
    return count;
}

std::string Tensor::form() const {
    std::string text = std::string(dtype_name(dtype)) + " [";
    for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
    return text + "]";
}

std::string safetensors_of(const std::vector<Tensor>& tensors,
                           const std::function<void(size_t, void*)>& read) {
    const std::vector<size_t> order = widest_first(tensors);
    Json header = Json::object();
    size_t end = 0;
    for (const size_t i : order) {
        const Tensor& tensor = tensors[i];
        header[tensor.name] = {{"dtype", names[size_t(tensor.dtype)]},
                               {"shape", tensor.shape},
                               {"data_offsets", {end, end + tensor.bytes()}}};
        end += tensor.bytes();
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    std::string file(length_bytes, '\0');
    for (size_t i = 0; i < length_bytes; ++i)
        file[i] = static_cast<char>(uint64_t(text.size()) >> (8 * i));
    file += text;
    size_t at = file.size();
    file.resize(at + end);
    for (const size_t i : order) {
        read(i, file.data() + at);
        at += tensors[i].bytes();
    }
    return file;
}

std::vector<Tensor> read_safetensors(std::span<const std::byte> file, const std::string& where) {
    if (file.size() < length_bytes)
        refuse(where, "it has " + std::to_string(file.size()) + " bytes");
    uint64_t length = 0;
    for (size_t i = 0; i < length_bytes; ++i) length |= uint64_t(file[i]) << (8 * i);
    if (length > file.size() - length_bytes) refuse(where, "it ends within its header");
    const auto* const text = reinterpret_cast<const char*>(file.data()) + length_bytes;
    const Json header = Json::parse(text, text + length, nullptr, false);
    if (!header.is_object()) refuse(where, "its header is no JSON object");
    std::vector<Tensor> tensors;
    try {
        for (const auto& [name, entry] : header.items())
            if (name != "__metadata__")
                tensors.push_back(tensor_of(name, entry, file.subspan(length_bytes + length)));
    } catch (const std::exception& wrong) {
        refuse(where, wrong.what());
    }
    std::stable_sort(tensors.begin(), tensors.end(), [](const Tensor& a, const Tensor& b) {
        return a.data.data() < b.data.data();
    });
    return tensors;
}

}
