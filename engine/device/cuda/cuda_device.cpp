#include "engine/device/cuda/cuda_device.h"

#include "engine/base/error.h"
#include "engine/device/bytes_text.h"
#include "engine/device/cuda/cuda_module.h"
#include "engine/device/cuda/cuda_stream.h"

#include <fstream>
#include <utility>

namespace nacelle {
namespace {

// "CUDA driver 13.0 (580.159)": users know the release; the driver's library reports only its CUDA version.
std::string driver_text(int version) {
    std::string text = "CUDA driver " + cuda_version_text(version);
    std::string release;
    if (std::ifstream("/sys/module/nvidia/version") >> release) text += " (" + release + ")";
    return text;
}

int attribute(const Driver& cuda, CUdevice device, CUdevice_attribute which) {
    int value = 0;
    cuda.check(cuda.device_attribute(&value, which, device), "ask for a property of the GPU");
    return value;
}

DeviceInfo read_info(const CudaContext& context) {
    const Driver& cuda = context.enter();
    const CUdevice device = context.device();
    char name[256] = {};
    cuda.check(cuda.device_name(name, sizeof name - 1, device), "ask for the GPU's name");

    DeviceInfo info;
    info.backend = Backend::cuda;
    info.name = name;
    const int major = attribute(cuda, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
              minor = attribute(cuda, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    info.architecture = "sm_" + std::to_string(major) + std::to_string(minor);
    // Hopper's products of four warps are not in the code that later GPUs run as well.
    if (major == 9 && minor == 0) info.architecture += "a";
    info.driver = driver_text(cuda.version());
    cuda.check(cuda.device_memory(&info.memory_bytes, device), "ask for the GPU's memory");
    // Graphs know programmatic dependencies since CUDA 12.3; the first driver of 12.3 did not instantiate all of them.
    info.early_launch = major >= 9 && cuda.version() >= 12040;
    info.processors = attribute(cuda, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    info.shared_bytes = static_cast<size_t>(
        attribute(cuda, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
    return info;
}

}

CudaDevice::CudaDevice(std::shared_ptr<const CudaContext> context)
    : context_(std::move(context)), info_(read_info(*context_)) {
    const Driver& cuda = context_->enter();
    cuda.check(cuda.stream_create(&zeroing_, CU_STREAM_NON_BLOCKING), "create a stream");
}

CudaDevice::~CudaDevice() { context_->enter_quietly().stream_destroy(zeroing_); }

size_t CudaDevice::memory_free() {
    const Driver& cuda = context_->enter();
    size_t available = 0;
    size_t total = 0;
    cuda.check(cuda.memory_info(&available, &total), "ask for the GPU's free memory");
    return available;
}

void* CudaDevice::allocate(size_t bytes) {
    if (bytes == 0) return nullptr;
    const Driver& cuda = context_->enter();
    const OutsideCapture outside(cuda);
    CUdeviceptr memory = 0;
    const CUresult result = cuda.memory_allocate(&memory, bytes);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        throw Error(info_.name, "out of memory: " + bytes_text(bytes) + " wanted, " +
                                    bytes_text(memory_free()) + " free");
    }
    cuda.check(result, "allocate memory on the GPU");
    // Our streams do not wait for the default one: zeroing there could overtake their first writes.
    CUresult zeroed = cuda.fill_bytes(memory, 0, bytes, zeroing_);
    if (zeroed == CUDA_SUCCESS) zeroed = cuda.stream_synchronize(zeroing_);
    if (zeroed != CUDA_SUCCESS) {
        cuda.memory_free(memory);
        cuda.fail(zeroed, "zero new memory on the GPU");
    }
    return reinterpret_cast<void*>(memory);
}

void CudaDevice::release(void* memory) noexcept {
    if (!memory) return;
    const Driver& cuda = context_->enter_quietly();
    const OutsideCapture outside(cuda);
    cuda.memory_free(reinterpret_cast<CUdeviceptr>(memory));
}

std::unique_ptr<Module> CudaDevice::load(std::span<const std::byte> binary) {
    if (binary.empty()) throw Error("cuda", "the binary to load is empty");
    return std::make_unique<CudaModule>(context_, info_, binary);
}

std::unique_ptr<Stream> CudaDevice::stream() {
    return std::make_unique<CudaStream>(context_, info_);
}

std::unique_ptr<Stream> CudaDevice::stream_of(void* native) {
    return std::make_unique<CudaStream>(context_, info_, static_cast<CUstream>(native));
}

bool CudaDevice::reaches(const void* memory) {
    unsigned kind = 0;
    return context_->enter().pointer_attribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                               reinterpret_cast<CUdeviceptr>(memory)) ==
           CUDA_SUCCESS;
}

std::shared_ptr<Device> open_cuda(const std::string& library, const std::function<void()>& starting,
                                  int gpu) {
    auto driver = std::make_shared<const Driver>(library, starting);
    int count = 0;
    driver->check(driver->device_count(&count), "count the GPUs");
    if (gpu >= count)
        throw Error("gpu", "there is no GPU " + std::to_string(gpu),
                    count == 1 ? "there is GPU 0 alone"
                               : "there are GPUs 0 to " + std::to_string(count - 1));
    return std::make_shared<CudaDevice>(
        std::make_shared<const CudaContext>(std::move(driver), gpu));
}

}
