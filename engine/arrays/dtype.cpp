#include "engine/arrays/dtype.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace nacelle {
namespace {

// Calls fn with a value of the type that the dtype names.
template <class Fn> auto with_type(Dtype dtype, Fn&& fn) {
    switch (dtype) {
        case Dtype::f32: return fn(float{});
        case Dtype::f64: return fn(double{});
        case Dtype::i32: return fn(int32_t{});
        case Dtype::u32: return fn(uint32_t{});
        case Dtype::i64: return fn(int64_t{});
        case Dtype::u64: return fn(uint64_t{});
        case Dtype::i16: return fn(int16_t{});
        case Dtype::u16: return fn(uint16_t{});
        case Dtype::i8: return fn(int8_t{});
        case Dtype::u8: return fn(uint8_t{});
        case Dtype::b8: break;
    }
    return fn(bool{});
}

}

size_t dtype_size(Dtype dtype) {
    return with_type(dtype, [](auto unit) { return sizeof unit; });
}

const char* dtype_name(Dtype dtype) {
    static constexpr const char* names[] = {"f32", "f64", "i32", "u32", "i64", "u64",
                                            "i16", "u16", "i8",  "u8",  "b8"};
    return names[static_cast<int>(dtype)];
}

std::pair<double, double> dtype_range(Dtype dtype) {
    return with_type(dtype, [](auto unit) {
        using Limits = std::numeric_limits<decltype(unit)>;
        return std::pair{double(Limits::lowest()), double(Limits::max())};
    });
}

double read_number(Dtype dtype, const void* from) {
    return with_type(dtype, [&](auto value) {
        // A byte from a file or from an author's code may be neither 0 nor 1.
        std::conditional_t<std::is_same_v<decltype(value), bool>, uint8_t, decltype(value)> read;
        std::memcpy(&read, from, sizeof read);
        if constexpr (std::is_same_v<decltype(value), bool>) return double(read != 0);
        else return static_cast<double>(read);
    });
}

void write_number(Dtype dtype, void* to, double value) {
    with_type(dtype, [&](auto unit) {
        using T = decltype(unit);
        T converted;
        if constexpr (std::is_same_v<T, bool>) converted = value != 0;
        else if constexpr (std::is_floating_point_v<T>) converted = static_cast<T>(value);
        else converted = static_cast<T>(std::llround(value));
        std::memcpy(to, &converted, sizeof converted);
        return 0;
    });
}

}
