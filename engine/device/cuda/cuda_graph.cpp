#include "engine/device/cuda/cuda_graph.h"

#include <utility>

namespace nacelle {

CudaGraph::CudaGraph(std::shared_ptr<const CudaContext> context, CUgraph captured)
    : context_(std::move(context)) {
    const Driver& cuda = context_->enter_quietly();
    const CUresult result = cuda.graph_instantiate(&executable_, captured, 0);
    cuda.graph_destroy(captured);
    cuda.check(result, "build a graph from what was captured");
}

CudaGraph::~CudaGraph() {
    const Driver& cuda = context_->enter_quietly();
    const OutsideCapture outside(cuda);
    cuda.graph_release(executable_);
}

}
