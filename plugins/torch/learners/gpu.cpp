#include "plugins/torch/learners/gpu.h"

#include <dlfcn.h>
#include <stdexcept>
#include <string>

namespace torch_learn {

Gpu& open_gpu(const nacelle::plugin::Host& host) {
    try {
        Gpu* const gpu = static_cast<Gpu*>(const_cast<void*>(host.offer(gpu_kind, gpu_name)));
        // Makes its symbols global: LibTorch opens further libraries of CUDA by name, which need them.
        dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
        return *gpu;
    } catch (const std::exception& error) {
        throw std::runtime_error(std::string("LibTorch's part for GPUs cannot be loaded: ") +
                                 error.what() +
                                 " ('tools/nacelle torch --gpu' installs it; --backend cpu trains "
                                 "without it)");
    }
}

}
