#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nacelle {

// The dictionary at the start of a .npy file: a Python literal with three keys.
struct NpyHeader {
    std::string descr;    // verbatim: "'<f4'", or "[('x', '<f4')]" for records
    bool fortran_order = false;
    std::vector<int64_t> shape;
};

NpyHeader parse_npy_header(std::string_view text, const std::string& where);

}
