#include "engine/base/error.h"
#include "engine/device/cuda/cuda_device.h"

#include <cstring>

namespace nacelle {
namespace {

// Memory of a GPU that other processes may open.
class CudaOwnMemory final : public SharedMemory {
public:
    CudaOwnMemory(CudaDevice& device, std::shared_ptr<const CudaContext> context, size_t bytes)
        : device_(device), context_(std::move(context)), data_(device.allocate(bytes)) {}
    ~CudaOwnMemory() override { device_.release(data_); }
    void* data() const override { return data_; }

private:
    CudaDevice& device_;
    std::shared_ptr<const CudaContext> context_;
    void* data_;
};
// Of another process.
class CudaOpenedMemory final : public SharedMemory {
public:
    CudaOpenedMemory(std::shared_ptr<const CudaContext> context, const std::string& handle)
        : context_(std::move(context)) {
        CUipcMemHandle its;
        if (handle.size() != sizeof its)
            throw Error("peer memory", "its handle is not one of CUDA's");
        std::memcpy(&its, handle.data(), sizeof its);
        const Driver& cuda = context_->enter();
        cuda.check(cuda.open_shared(&data_, its, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
                   "reach memory of another process's GPU");
    }
    ~CudaOpenedMemory() override { context_->enter_quietly().close_shared(data_); }
    void* data() const override { return reinterpret_cast<void*>(data_); }

private:
    std::shared_ptr<const CudaContext> context_;
    CUdeviceptr data_ = 0;
};
class CudaHostMemory final : public SharedMemory {
public:
    CudaHostMemory(std::shared_ptr<const CudaContext> context, size_t bytes)
        : context_(std::move(context)) {
        const Driver& cuda = context_->enter();
        cuda.check(
            cuda.host_allocate(&data_, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
            "allocate memory of the host that a GPU sees");
        std::memset(data_, 0, bytes);
    }
    ~CudaHostMemory() override { context_->enter_quietly().host_free(data_); }
    void* data() const override { return data_; }

private:
    std::shared_ptr<const CudaContext> context_;
    void* data_ = nullptr;
};

}

// Whole pages of a GPU's: smaller allocations share one with others, which the other process would see.
std::unique_ptr<SharedMemory> CudaDevice::share(size_t bytes, std::string& handle) {
    constexpr size_t page = size_t(2) << 20;
    auto memory =
        std::make_unique<CudaOwnMemory>(*this, context_, (bytes + page - 1) / page * page);
    CUipcMemHandle its;
    const Driver& cuda = context_->enter();
    cuda.check(cuda.share_memory(&its, reinterpret_cast<CUdeviceptr>(memory->data())),
               "share memory of the GPU with another process");
    handle.assign(reinterpret_cast<const char*>(&its), sizeof its);
    return memory;
}

std::unique_ptr<SharedMemory> CudaDevice::open_shared(const std::string& handle) {
    return std::make_unique<CudaOpenedMemory>(context_, handle);
}

std::unique_ptr<SharedMemory> CudaDevice::visible_to_host(size_t bytes) {
    return std::make_unique<CudaHostMemory>(context_, bytes);
}

}
