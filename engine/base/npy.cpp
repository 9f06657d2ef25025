#include "engine/base/npy.h"

#include "engine/base/error.h"
#include "engine/base/npy_header.h"

#include <array>
#include <limits>
#include <utility>

namespace nacelle {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr size_t prologue = 8;    // the magic and two bytes of version

struct Type {
    std::string_view name, numpy;
    uint64_t size;
};
// clang-format off
constexpr std::array<Type, 12> types{{{"b8", "b1", 1}, {"u8", "u1", 1}, {"i8", "i1", 1},
                                      {"u16", "u2", 2}, {"i16", "i2", 2}, {"f16", "f2", 2},
                                      {"u32", "u4", 4}, {"i32", "i4", 4}, {"f32", "f4", 4},
                                      {"u64", "u8", 8}, {"i64", "i8", 8}, {"f64", "f8", 8}}};
// clang-format on

const Type& type_of(const std::string& descr, const std::string& where) {
    if (descr.starts_with('[')) {
        throw Error(where, "holds records " + descr, "save each field as an array of its own");
    }
    const std::string text = descr.substr(1, descr.size() - 2);
    const bool has_order = text.find_first_of("<>|=") == 0;
    const std::string_view name = std::string_view(text).substr(has_order ? 1 : 0);
    for (const Type& type : types) {
        if (type.numpy != name) continue;
        if (text[0] == '>' && type.size > 1) {
            throw Error(where, "holds big-endian numbers (" + text + ")",
                        "save array.astype('<" + std::string(name) + "')");
        }
        return type;
    }
    throw Error(where, "holds elements of type " + descr,
                "there is: bool, integers and floating-point numbers of up to 8 bytes");
}

// The bytes of an array of this shape; nothing where the product overflows.
bool multiply(const std::vector<int64_t>& shape, uint64_t& product) {
    for (const int64_t size : shape) {
        if (size < 0 || __builtin_mul_overflow(product, static_cast<uint64_t>(size), &product)) {
            return false;
        }
    }
    return true;
}

// The header's length: two bytes in version 1, four from version 2 on, little-endian.
uint32_t header_length(std::string_view bytes, size_t count) {
    uint32_t length = 0;
    for (size_t i = 0; i < count; ++i) {
        const auto byte = static_cast<unsigned char>(bytes[prologue + i]);
        length |= static_cast<uint32_t>(byte) << (8 * i);
    }
    return length;
}

}

NpyArray parse_npy(std::string_view bytes, const std::string& where) {
    const auto cut_short = [&] { return Error(where, "is cut short"); };
    if (bytes.substr(0, magic.size()) != magic) throw Error(where, "is not a .npy file");
    if (bytes.size() < prologue) throw cut_short();
    const int version = static_cast<unsigned char>(bytes[magic.size()]);
    if (version < 1 || version > 3) {
        throw Error(where, "has .npy version " + std::to_string(version), "there is: 1, 2, 3");
    }
    const size_t length_bytes = version == 1 ? 2 : 4;
    const size_t start = prologue + length_bytes;
    if (bytes.size() < start) throw cut_short();
    const size_t length = header_length(bytes, length_bytes);
    if (bytes.size() - start < length) throw cut_short();

    NpyHeader header = parse_npy_header(bytes.substr(start, length), where);
    const Type& type = type_of(header.descr, where);
    if (header.fortran_order) {
        throw Error(where, "is in Fortran order", "save numpy.ascontiguousarray(array)");
    }
    const std::string_view data = bytes.substr(start + length);
    uint64_t size = type.size;
    if (!multiply(header.shape, size) || size > data.size()) throw cut_short();
    if (size < data.size()) {
        throw Error(where, "has " + std::to_string(data.size() - size) + " bytes after its array");
    }
    const auto* first = reinterpret_cast<const std::byte*>(data.data());
    return {std::string(type.name), std::move(header.shape), {first, first + data.size()}};
}

std::string make_npy(const NpyArray& array) {
    const std::string where = "make_npy";
    const Type* type = nullptr;
    for (const Type& known : types) {
        if (known.name == array.dtype) type = &known;
    }
    if (!type) throw Error(where, "there is no element type '" + array.dtype + "'");
    uint64_t size = type->size;
    if (!multiply(array.shape, size) || size != array.data.size()) {
        throw Error(where, "the shape does not fit " + std::to_string(array.data.size()) +
                               " bytes of " + array.dtype);
    }
    std::string shape;
    for (const int64_t length : array.shape) shape += std::to_string(length) + ", ";
    std::string header = std::string("{'descr': '") + (type->size == 1 ? "|" : "<") +
                         std::string(type->numpy) + "', 'fortran_order': False, 'shape': (" +
                         shape + "), }";
    // NumPy wants the data to start at a multiple of 64, and a newline before it.
    header.append(63 - (prologue + 2 + header.size()) % 64, ' ');
    header += '\n';
    if (header.size() > std::numeric_limits<uint16_t>::max()) {
        throw Error(where, "the array has too many dimensions");
    }
    std::string bytes(magic);
    bytes += {'\x01', '\x00', static_cast<char>(header.size() & 255),
              static_cast<char>(header.size() >> 8)};
    bytes += header;
    bytes.append(reinterpret_cast<const char*>(array.data.data()), array.data.size());
    return bytes;
}

}
