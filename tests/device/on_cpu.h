#pragma once
#include "engine/device/cpu/cpu_device.h"

// A device that does what a CPU does, for tests that count or refuse some of it.
class OnCpu : public nacelle::Device {
public:
    const nacelle::DeviceInfo& info() const override { return cpu_.info(); }
    size_t memory_free() override { return cpu_.memory_free(); }
    void* allocate(size_t bytes) override { return cpu_.allocate(bytes); }
    void release(void* memory) noexcept override { cpu_.release(memory); }
    std::unique_ptr<nacelle::Module> load(std::span<const std::byte> binary) override {
        return cpu_.load(binary);
    }
    std::unique_ptr<nacelle::Stream> stream() override { return cpu_.stream(); }
    std::unique_ptr<nacelle::Stream> stream_of(void*) override { return cpu_.stream(); }
    std::unique_ptr<nacelle::SharedMemory> share(size_t bytes, std::string& handle) override {
        return cpu_.share(bytes, handle);
    }
    std::unique_ptr<nacelle::SharedMemory> open_shared(const std::string& handle) override {
        return cpu_.open_shared(handle);
    }
    std::unique_ptr<nacelle::SharedMemory> visible_to_host(size_t bytes) override {
        return cpu_.visible_to_host(bytes);
    }
    bool reaches(const void* memory) override { return cpu_.reaches(memory); }

private:
    nacelle::CpuDevice cpu_{1};
};
