// What LibTorch does on a GPU only: streams, graphs and memory.
#include "plugins/torch/learners/gpu.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>
#include <nacelle/plugin/manifest.h>

namespace torch_learn {
namespace {

class Cuda final : public Gpu {
public:
    std::shared_ptr<void> use(void* stream) override {
        return std::make_shared<c10::cuda::CUDAStreamGuard>(c10::cuda::getStreamFromExternal(
            static_cast<cudaStream_t>(stream), c10::cuda::current_device()));
    }
    bool is_capturing() override {
        return c10::cuda::currentStreamCaptureStatusMayInitCtx() != c10::cuda::CaptureStatus::None;
    }
    std::function<void()> capture(const std::function<void()>& work) override {
        auto graph = std::make_shared<at::cuda::CUDAGraph>();
        // Thread-local: what other threads compile and allocate meanwhile does no harm.
        graph->capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
        try {
            work();
        } catch (...) {
            try {
                graph->capture_end();
            } catch (const std::exception&) {
                // The first error is reported.
            }
            throw;
        }
        graph->capture_end();
        return [graph] { graph->replay(); };
    }
    void finish() override { C10_CUDA_CHECK(cudaDeviceSynchronize()); }
    size_t free_bytes() override {
        size_t free = 0, total = 0;
        C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
        return free;
    }
};

struct GpuOffer {
    static constexpr const char* kind = gpu_kind;
    static constexpr const char* name = gpu_name;
    static const void* table() {
        static Cuda cuda;
        return static_cast<Gpu*>(&cuda);
    }
};

}
}

NACELLE_PLUGIN("nacelle.torch_gpu", "1.0.0",
               "LibTorch's part for GPUs, which the learners on it use", torch_learn::GpuOffer)
