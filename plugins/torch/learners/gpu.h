#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <nacelle/plugin/host.h>

namespace torch_learn {

// LibTorch's part for GPUs, an offer of another plugin (plugins/torch_gpu): the part needs libraries of CUDA, which a
// machine without a GPU lacks.
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
// Opens the part, in create() alone; throws if LibTorch was installed for CPUs alone.
Gpu& open_gpu(const nacelle::plugin::Host& host);

}
