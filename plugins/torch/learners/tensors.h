#pragma once
#include <ATen/ATen.h>
#include <type_traits>

namespace torch_learn {

template <class T> constexpr at::ScalarType scalar_of() {
    if constexpr (std::is_same_v<T, float>) return at::kFloat;
    else if constexpr (std::is_same_v<T, double>) return at::kDouble;
    else if constexpr (std::is_same_v<T, uint8_t>) return at::kByte;
    else if constexpr (std::is_same_v<T, int64_t>) return at::kLong;
    else {
        static_assert(std::is_same_v<T, int32_t>);
        return at::kInt;
    }
}
// An array as a tensor: the same memory. Undefined where there is none.
template <class T> at::Tensor tensor_of(T* data, at::IntArrayRef sizes) {
    if (!data) return {};
    return at::from_blob(data, sizes, at::TensorOptions(scalar_of<T>()));
}

}
