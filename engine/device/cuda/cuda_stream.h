#pragma once
#include "engine/device/cuda/context.h"
#include "engine/device/device.h"

#include <memory>

namespace nacelle {

// A CUDA stream of its own, which does not synchronise with the default stream, or one of the application's.
class CudaStream final : public Stream {
public:
    CudaStream(std::shared_ptr<const CudaContext> context, const DeviceInfo& info);
    // Works on a stream of the application's and leaves it alone in the end.
    CudaStream(std::shared_ptr<const CudaContext> context, const DeviceInfo& info, CUstream theirs)
        : context_(std::move(context)),
          shared_bytes_(info.shared_bytes),
          early_launch_(info.early_launch),
          stream_(theirs),
          owned_(false) {}
    ~CudaStream() override;
    CudaStream(const CudaStream&) = delete;
    CudaStream& operator=(const CudaStream&) = delete;

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
    void* native() override { return stream_; }
    void wait_for(void* native) override { order(static_cast<CUstream>(native), stream_); }
    void make_wait(void* native) override { order(stream_, static_cast<CUstream>(native)); }

private:
    void check_launch(const Kernel&, const LaunchShape&, uint64_t blocks, size_t args_bytes) const;
    // For what copies or fills memory: no kernel behind it begins early.
    const Driver& enter_for_memory();
    // Throws for pageable host memory: a graph runs later, when the memory may be gone, and a GPU cannot read it.
    void require_capturable(const Driver& cuda, const void* host, const char* call) const;
    void require_no_capture(const char* call) const;
    // What is put on `second` from now on begins after what lies on `first` now.
    void order(CUstream first, CUstream second);

    std::shared_ptr<const CudaContext> context_;
    size_t shared_bytes_;
    bool early_launch_;
    CUstream stream_ = nullptr;
    CUevent passed_ = nullptr;    // made when it is first needed
    bool capturing_ = false, owned_ = true;
    bool behind_kernel_ = false;    // what was captured last is a kernel
};

}
