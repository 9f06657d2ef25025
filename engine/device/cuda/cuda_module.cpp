#include "engine/device/cuda/cuda_module.h"

#include "engine/base/error.h"

#include <utility>

namespace nacelle {
namespace {

int attribute(const Driver& cuda, CUfunction function, CUfunction_attribute which) {
    int value = 0;
    cuda.check(cuda.function_attribute(&value, which, function), "ask what a kernel needs");
    return value;
}

// The size of the one struct that a kernel takes; 0 where it takes nothing or the driver is older than CUDA 12.4 and
// cannot tell.
size_t parameter_bytes(const Driver& cuda, CUfunction function) {
    size_t offset = 0;
    size_t bytes = 0;
    if (!cuda.function_parameter) return 0;
    if (cuda.function_parameter(function, 0, &offset, &bytes) != CUDA_SUCCESS) return 0;
    return bytes;
}

}

CudaModule::CudaModule(std::shared_ptr<const CudaContext> context, const DeviceInfo& info,
                       std::span<const std::byte> binary)
    : context_(std::move(context)), shared_bytes_(info.shared_bytes) {
    const Driver& cuda = context_->enter();
    const OutsideCapture outside(cuda);
    cuda.check(cuda.module_load(&module_, binary.data()), "load a module on the GPU");
}

CudaModule::~CudaModule() {
    const Driver& cuda = context_->enter_quietly();
    const OutsideCapture outside(cuda);
    cuda.module_unload(module_);
}

CUfunction CudaModule::function(const std::string& name) {
    const Driver& cuda = context_->enter();
    // Lazy loading: a module may load its kernels at their first use.
    const OutsideCapture outside(cuda);
    CUfunction function = nullptr;
    const CUresult result = cuda.module_function(&function, module_, name.c_str());
    if (result == CUDA_ERROR_NOT_FOUND) return nullptr;
    if (result != CUDA_SUCCESS) cuda.fail(result, "find the kernel '" + name + "'");
    return function;
}

Kernel CudaModule::kernel(const std::string& name) {
    CUfunction function = this->function(name);
    if (!function) throw Error("cuda", "the module has no kernel '" + name + "'");
    const Driver& cuda = context_->enter();
    const OutsideCapture outside(cuda);
    Kernel kernel;
    kernel.name = name;
    kernel.function = function;
    kernel.registers = attribute(cuda, function, CU_FUNC_ATTRIBUTE_NUM_REGS);
    kernel.local_bytes =
        static_cast<size_t>(attribute(cuda, function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
    kernel.shared_bytes =
        static_cast<size_t>(attribute(cuda, function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
    kernel.max_threads = attribute(cuda, function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    kernel.args_bytes = parameter_bytes(cuda, function);
    // NACELLE_KERNEL leaves a mark beside each kernel that it writes.
    CUdeviceptr mark = 0;
    size_t mark_bytes = 0;
    kernel.waits = cuda.module_global(&mark, &mark_bytes, module_,
                                      ("nacelle_waits_" + name).c_str()) == CUDA_SUCCESS;
    // A kernel must opt in to more than 48 KiB. Doing it here for all kernels keeps launches simple; memory that a
    // launch does not use stays with the cache.
    if (kernel.shared_bytes < shared_bytes_) {
        cuda.check(cuda.function_set(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                     static_cast<int>(shared_bytes_ - kernel.shared_bytes)),
                   "let a kernel use all shared memory");
    }
    return kernel;
}

Symbol CudaModule::symbol(const std::string& name) {
    const Driver& cuda = context_->enter();
    const OutsideCapture outside(cuda);
    CUdeviceptr address = 0;
    size_t bytes = 0;
    const CUresult result = cuda.module_global(&address, &bytes, module_, name.c_str());
    if (result == CUDA_ERROR_NOT_FOUND) return {};
    if (result != CUDA_SUCCESS) cuda.fail(result, "find the symbol '" + name + "'");
    return {reinterpret_cast<void*>(address), bytes};
}

}
