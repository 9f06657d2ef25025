#include "engine/run/tensor_finite.h"

#include "engine/base/error.h"
#include "engine/base/finite.h"
#include "engine/base/number_text.h"

namespace nacelle {
namespace {

template <class T> const char* wrong_number_in(std::span<const std::byte> bytes) {
    const auto numbers = reinterpret_cast<const T*>(bytes.data());
    const size_t count = bytes.size() / sizeof(T), at = first_not_finite(numbers, count);
    return at < count ? not_finite_text(double(numbers[at])) : nullptr;
}

}

std::string wrong_number_of(const NamedArray& array, const Tensor& tensor) {
    if (array.role() != Role::plugin || array.kept() != by_all_ranks) return {};
    const char* const wrong = tensor.dtype == Dtype::f32   ? wrong_number_in<float>(tensor.data)
                              : tensor.dtype == Dtype::f64 ? wrong_number_in<double>(tensor.data)
                                                           : nullptr;
    return wrong ? tensor.name + " has a number that is " + wrong : std::string();
}

void require_finite(const NamedArray& array, const Tensor& tensor, const std::string& where) {
    if (const std::string wrong = wrong_number_of(array, tensor); !wrong.empty())
        throw Error(where, "its " + wrong + ": training failed",
                    "eval --checkpoint STEPS takes an earlier one");
}

}
