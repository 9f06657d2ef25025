#pragma once
#include "engine/device/cuda/context.h"
#include "engine/device/device.h"

#include <memory>
#include <string>

namespace nacelle {

// A GPU, used through the CUDA driver.
class CudaDevice final : public Device {
public:
    explicit CudaDevice(std::shared_ptr<const CudaContext> context);
    ~CudaDevice() override;

    const DeviceInfo& info() const override { return info_; }
    size_t memory_free() override;
    void* allocate(size_t bytes) override;
    void release(void* memory) noexcept override;
    std::unique_ptr<Module> load(std::span<const std::byte> binary) override;
    std::unique_ptr<Stream> stream() override;
    std::unique_ptr<Stream> stream_of(void* native) override;
    std::unique_ptr<SharedMemory> share(size_t bytes, std::string& handle) override;
    std::unique_ptr<SharedMemory> open_shared(const std::string& handle) override;
    std::unique_ptr<SharedMemory> visible_to_host(size_t bytes) override;
    bool reaches(const void* memory) override;

private:
    std::shared_ptr<const CudaContext> context_;
    DeviceInfo info_;
    CUstream zeroing_ = nullptr;
};

// A GPU of the driver, by its number. Throws with the reason where none works. library: a name for the loader, or a path.
std::shared_ptr<Device> open_cuda(const std::string& library = "libcuda.so.1",
                                  const std::function<void()>& starting = {}, int gpu = 0);

}
