#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <nacelle/plugin/host.h>

namespace torch_learn {

// What of LibTorch is for GPUs. A plugin of its own (plugins/torch_gpu) offers it, since LibTorch's part for GPUs needs
// libraries that a machine without one lacks.
class Gpu {
public:
    virtual ~Gpu() = default;
    // The stream is LibTorch's current one on this thread for as long as what is returned lives.
    virtual std::shared_ptr<void> use(void* stream) = 0;
    virtual bool is_capturing() = 0;
    // Work that is captured and not done, on the current stream; what it allocates is its own. Calling the result does it.
    virtual std::function<void()> capture(const std::function<void()>& work) = 0;
    virtual void finish() = 0;    // waits for all streams
    virtual size_t free_bytes() = 0;
};

inline constexpr const char* gpu_kind = "torch_gpu/1";
inline constexpr const char* gpu_name = "cuda";
// Opens it, in create() alone; throws where this LibTorch is one for CPUs alone.
Gpu& open_gpu(const nacelle::plugin::Host& host);

}
