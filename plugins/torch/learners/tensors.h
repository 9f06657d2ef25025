#pragma once
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <cstdlib>
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

// Products of some hundred rows wait for threads longer than they compute, and sums by several have other bits.
inline void use_one_thread() {
    if (!std::getenv("OMP_NUM_THREADS")) at::set_num_threads(1);
}

// Arrays of one device as tensors: the same memory.
class Tensors final {
public:
    // On a GPU: the one that this thread works on, which is another one for each rank of a machine.
    explicit Tensors(bool on_gpu)
        : device_(on_gpu ? c10::impl::VirtualGuardImpl(at::kCUDA).getDevice()
                         : at::Device(at::kCPU)) {}
    at::Device device() const { return device_; }
    bool on_gpu() const { return device_.is_cuda(); }
    // Undefined where there is none.
    template <class T> at::Tensor of(T* data, at::IntArrayRef sizes) const {
        if (!data) return {};
        const at::TensorOptions options = at::TensorOptions(scalar_of<T>()).device(device_);
        return at::for_blob(data, sizes).options(options).target_device(device_).make_tensor();
    }

private:
    at::Device device_;
};

}
