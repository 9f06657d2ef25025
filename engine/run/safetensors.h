#pragma once
#include <cstddef>
#include <functional>
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

    // Throws where the sizes are negative, or more than a size can say.
    size_t bytes() const;
    // "f32 [4, 4096]"
    std::string form() const;
};

// The file's bytes: eight bytes with the length of a JSON header, the header, the data. `read` fills in
// the data of the tensor of an index. Wide elements come first, so that each array is aligned.
std::string safetensors_of(const std::vector<Tensor>& tensors,
                           const std::function<void(size_t, void*)>& read);

// The tensors of a file that is in memory, in the order of their data; they point into `file`. Throws
// where it is no such file, `where` naming it: every byte of the data must be one tensor's, once.
std::vector<Tensor> read_safetensors(std::span<const std::byte> file, const std::string& where);

}
