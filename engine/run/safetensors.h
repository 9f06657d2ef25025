#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <nacelle/schema.h>
#include <span>
#include <string>
#include <vector>

namespace nacelle {

// One named array of a .safetensors file.
struct Tensor {
    std::string name;
    Dtype dtype = Dtype::f32;
    std::vector<int64_t> shape;
    std::span<const std::byte> data;    // of a file that was read; empty where one is written

    // Throws where a size is negative or the product overflows.
    size_t bytes() const;
    // "f32 [4, 4096]"
    std::string form() const;
};

// The bytes of a file: eight bytes with the length of a JSON header, the header, the data. `read` fills in the data
// of the tensor with an index. Wide elements come first, so that each array is aligned. What a file says of itself is
// its metadata: texts by their names.
using SafetensorsMetadata = std::map<std::string, std::string>;
std::string safetensors_of(const std::vector<Tensor>& tensors,
                           const std::function<void(size_t, void*)>& read,
                           const SafetensorsMetadata& metadata = {});

// The tensors of a file in memory, in the order of their data; they point into `file`. Throws, with `where`, where
// the file is invalid: every byte of the data must belong to exactly one tensor.
// `metadata` gets that of the file, unless null.
std::vector<Tensor> read_safetensors(std::span<const std::byte> file, const std::string& where,
                                     SafetensorsMetadata* metadata = nullptr);

}
