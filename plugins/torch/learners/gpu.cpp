#include "plugins/torch/learners/gpu.h"

#include <dlfcn.h>
#include <stdexcept>
#include <string>

namespace torch_learn {

// Found by the run path of this library, since a plugin runs as a copy of itself. It stays open: LibTorch registers its
// kernels once.
Gpu& open_gpu() {
    void* const library = dlopen(gpu_library, RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        const char* const why = dlerror();
        throw std::runtime_error("LibTorch's part for GPUs cannot be loaded: " +
                                 std::string(why ? why : "no reason given") +
                                 " ('tools/nacelle torch --gpu' installs it; --backend cpu trains "
                                 "without it)");
    }
    using Open = Gpu*();
    const auto open = reinterpret_cast<Open*>(dlsym(library, "nacelle_torch_gpu"));
    if (!open) throw std::runtime_error(std::string(gpu_library) + " is another library");
    return *open();
}

}
