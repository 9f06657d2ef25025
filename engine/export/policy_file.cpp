#include "engine/export/policy_file.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/export/c_policy.h"
#include "engine/export/onnx_policy.h"

#include <algorithm>

namespace nacelle {
namespace {

std::string safetensors_of_policy(const OpenedPolicy& policy) {
    const PolicyContent content = content_of(policy);
    std::vector<Tensor> forms;
    for (const PolicyTensor& tensor : content.tensors)
        forms.push_back({.name = tensor.name, .shape = tensor.shape});
    return safetensors_of(
        forms,
        [&](size_t i, void* to) {
            std::ranges::copy(content.tensors[i].numbers, static_cast<float*>(to));
        },
        content.metadata);
}

PolicyContent read_safetensors_policy(const std::string& file, const std::string& where) {
    PolicyContent content;
    for (const Tensor& tensor :
         read_safetensors(std::as_bytes(std::span(file)), where, &content.metadata)) {
        if (tensor.dtype != Dtype::f32) continue;    // of a checkpoint, which has no metadata
        PolicyTensor its{tensor.name, tensor.shape,
                         std::vector<float>(tensor.data.size() / sizeof(float))};
        std::ranges::copy(tensor.data, std::as_writable_bytes(std::span(its.numbers)).begin());
        content.tensors.push_back(std::move(its));
    }
    return content;
}

}

std::string exported(const OpenedPolicy& policy, PolicyFormat format, const std::string& name) {
    switch (format) {
        case PolicyFormat::onnx: return onnx_of(policy);
        case PolicyFormat::safetensors: return safetensors_of_policy(policy);
        case PolicyFormat::c: break;
    }
    return c_of(policy, name);
}

bool is_policy_file(const std::filesystem::path& path) {
    std::error_code ignored;
    const std::string suffix = path.extension().string();
    const bool known = std::ranges::any_of(
        policy_formats, [&](const PolicyFormatName& one) { return suffix == one.suffix; });
    return known && std::filesystem::is_regular_file(path, ignored) &&
           !std::filesystem::exists(std::filesystem::path(path).replace_extension(".json"),
                                    ignored);
}

OpenedPolicy open_policy_file(const std::filesystem::path& path) {
    const std::string where = path.string(), suffix = path.extension().string();
    if (suffix == ".onnx") return policy_of(read_onnx(read_file(path), where), where);
    if (suffix == ".safetensors")
        return policy_of(read_safetensors_policy(read_file(path), where), where);
    if (suffix == ".h")
        throw Error(where,
                    "is C: a program that includes it plays it, and Nacelle compiles no file that "
                    "only holds numbers",
                    "'nacelle export --to safetensors' or 'onnx' writes one that it plays");
    throw Error(where, "is no file of 'nacelle export'",
                "a name that ends in .onnx or .safetensors");
}

}
