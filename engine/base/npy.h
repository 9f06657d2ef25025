#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nacelle {

// A NumPy array in C order: its element type, its sizes and its bytes.
struct NpyArray {
    std::string dtype;             // b8, u8..u64, i8..i64, f16, f32, f64
    std::vector<int64_t> shape;    // empty for a single number
    std::vector<std::byte> data;
};

// Parses a .npy file, versions 1 to 3. Fortran order, big-endian numbers and types other than those above are errors
// that name `where`.
NpyArray parse_npy(std::string_view bytes, const std::string& where);
// The content of a .npy file (version 1). Throws where shape and data disagree.
std::string make_npy(const NpyArray& array);

}
