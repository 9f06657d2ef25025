#include "engine/device/device.h"

#include "engine/base/error.h"
#include "engine/device/choose.h"
#include "engine/device/cpu/cpu_device.h"
#include "engine/device/cuda/cuda_device.h"

#include <utility>

namespace nacelle {

Buffer::Buffer(std::shared_ptr<Device> device, size_t bytes)
    : device_(std::move(device)), data_(device_->allocate(bytes)), bytes_(bytes) {}

Buffer::Buffer(Buffer&& other) noexcept
    : device_(std::move(other.device_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
    Buffer taken(std::move(other));
    std::swap(device_, taken.device_);
    std::swap(data_, taken.data_);
    std::swap(bytes_, taken.bytes_);
    return *this;
}

Buffer::~Buffer() {
    if (data_) device_->release(data_);
}

DeviceChoice choose_device(const std::string& backend, int threads, const std::string& cuda_library,
                           const std::function<void()>& starting, int gpu) {
    if (backend != "auto" && backend != "cuda" && backend != "cpu") {
        throw Error("backend", "there is no backend '" + backend + "'",
                    "there is: auto, cuda, cpu");
    }
    check_threads(threads);
    if (backend == "cpu") return {open_cpu(threads), "the CPU was asked for"};
    try {
        std::shared_ptr<Device> device = open_cuda(cuda_library, starting, gpu);
        std::string name = device->info().name;
        return {std::move(device), std::move(name)};
    } catch (const Error& error) {
        // A GPU that was asked for by its number, beside others.
        if (backend == "cuda" || error.where() == "gpu") throw;
        return {open_cpu(threads), "no GPU: " + error.reason()};
    }
}

DeviceChoice open_device(const std::string& backend, int threads,
                         const std::function<void()>& starting, int gpu) {
    return choose_device(backend, threads, "libcuda.so.1", starting, gpu);
}

}
