#pragma once
#include "engine/device/cpu/thread_pool.h"
#include "engine/device/device.h"

#include <functional>
#include <memory>
#include <vector>

namespace nacelle {

// Runs each call before it returns; between begin_capture and end_capture it records the calls.
class CpuStream final : public Stream {
public:
    explicit CpuStream(std::shared_ptr<ThreadPool> pool) : pool_(std::move(pool)) {}

    void launch(const Kernel&, const LaunchShape&, std::span<const std::byte> args) override;
    void to_device(void* target, const void* host, size_t bytes) override;
    void to_host(void* host, const void* source, size_t bytes) override;
    void copy(void* target, const void* source, size_t bytes) override;
    void fill(void* target, uint8_t value, size_t bytes) override;
    void synchronize() override;
    void call(std::function<void()> put) override;

    void begin_capture() override;
    std::unique_ptr<Graph> end_capture() override;
    void replay(Graph&) override;

    double time(const std::function<void()>& work) override;
    void* native() override { return nullptr; }
    void wait_for(void*) override {}
    void make_wait(void*) override {}

private:
    // A GPU cannot do these calls during a capture, so a CPU refuses them as well.
    void require_no_capture(const char* call) const;

    std::shared_ptr<ThreadPool> pool_;
    std::vector<std::function<void()>> captured_;
    bool capturing_ = false;
};

}
