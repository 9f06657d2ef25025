#pragma once
#include "engine/device/cpu/thread_pool.h"
#include "engine/device/device.h"

#include <memory>

namespace nacelle {

// The processors of this machine. Modules are shared objects, blocks run on a pool of threads.
class CpuDevice final : public Device {
public:
    explicit CpuDevice(int threads);

    const DeviceInfo& info() const override { return info_; }
    size_t memory_free() override;
    void* allocate(size_t bytes) override;
    void release(void* memory) noexcept override;
    std::unique_ptr<Module> load(std::span<const std::byte> binary) override;
    std::unique_ptr<Stream> stream() override;
    std::unique_ptr<Stream> stream_of(void*) override { return stream(); }
    std::unique_ptr<SharedMemory> share(size_t bytes, std::string& handle) override;
    std::unique_ptr<SharedMemory> open_shared(const std::string& handle) override;
    std::unique_ptr<SharedMemory> visible_to_host(size_t bytes) override;
    bool reaches(const void* memory) override { return memory != nullptr; }

private:
    DeviceInfo info_;
    std::shared_ptr<ThreadPool> pool_;
};

constexpr int most_threads = 1024;
// Throws where the number of worker threads is out of range; 0 is one per processor.
void check_threads(int threads);
std::shared_ptr<Device> open_cpu(int threads);

}
