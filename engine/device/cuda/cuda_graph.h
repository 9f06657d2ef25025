#pragma once
#include "engine/device/cuda/context.h"
#include "engine/device/device.h"

#include <memory>

namespace nacelle {

// An instantiated CUDA graph.
class CudaGraph final : public Graph {
public:
    // Takes ownership of `captured`, also where it throws.
    CudaGraph(std::shared_ptr<const CudaContext> context, CUgraph captured);
    ~CudaGraph() override;
    CudaGraph(const CudaGraph&) = delete;
    CudaGraph& operator=(const CudaGraph&) = delete;

    CUgraphExec executable() const { return executable_; }

private:
    std::shared_ptr<const CudaContext> context_;
    CUgraphExec executable_ = nullptr;
};

}
