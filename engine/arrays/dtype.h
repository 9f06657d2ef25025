#pragma once
#include <cstddef>
#include <cstdint>
#include <nacelle/schema.h>
#include <string>
#include <type_traits>
#include <utility>

namespace nacelle {

size_t dtype_size(Dtype);
// "f32", "i64", "b8": the names in messages and .npy files.
const char* dtype_name(Dtype);
// The smallest and the largest number of the type.
std::pair<double, double> dtype_range(Dtype);

template <class T> constexpr Dtype dtype_for() {
    if constexpr (std::is_same_v<T, bool>) return Dtype::b8;
    else if constexpr (std::is_same_v<T, float>) return Dtype::f32;
    else if constexpr (std::is_same_v<T, double>) return Dtype::f64;
    else {
        static_assert(std::is_integral_v<T>, "arrays hold numbers");
        constexpr bool with_sign = std::is_signed_v<T>;
        if constexpr (sizeof(T) == 1) return with_sign ? Dtype::i8 : Dtype::u8;
        else if constexpr (sizeof(T) == 2) return with_sign ? Dtype::i16 : Dtype::u16;
        else if constexpr (sizeof(T) == 4) return with_sign ? Dtype::i32 : Dtype::u32;
        else return with_sign ? Dtype::i64 : Dtype::u64;
    }
}

// Converts one number of any type to and from double; integers are rounded to the nearest.
double read_number(Dtype, const void* from);
void write_number(Dtype, void* to, double value);

}
