#include "engine/device/cuda/cuda_stream.h"

#include "engine/base/error.h"
#include "engine/device/bytes_text.h"
#include "engine/device/cuda/cuda_graph.h"
#include "engine/device/launch_check.h"

#include <limits>
#include <string>
#include <utility>

namespace nacelle {
namespace {

constexpr uint64_t most_blocks = std::numeric_limits<int32_t>::max();

CUdeviceptr address(const void* memory) { return reinterpret_cast<CUdeviceptr>(memory); }

// For clusters of several blocks, and for kernels that are sent while the one before them runs and wait where they
// begin (nacelle/kernel.h). Only for these: attributes make a launch slower.
CUresult launch_with_attributes(const Driver& cuda, CUstream stream, CUfunction function,
                                unsigned grid, const LaunchShape& shape, bool early,
                                void** parameters) {
    CUlaunchAttribute attributes[2]{};
    unsigned count = 0;
    if (shape.cluster > 1) {
        CUlaunchAttribute& cluster = attributes[count++];
        cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        cluster.value.clusterDim.x = shape.cluster;
        cluster.value.clusterDim.y = cluster.value.clusterDim.z = 1;
    }
    if (early) {
        CUlaunchAttribute& serialization = attributes[count++];
        serialization.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        serialization.value.programmaticStreamSerializationAllowed = 1;
    }
    CUlaunchConfig config{};
    config.gridDimX = grid;
    config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = shape.threads;
    config.blockDimY = config.blockDimZ = 1;
    config.sharedMemBytes = shape.shared_bytes;
    config.hStream = stream;
    config.attrs = attributes;
    config.numAttrs = count;
    return cuda.launch_with(&config, function, parameters, nullptr);
}

// An event with timing.
class Event final {
public:
    explicit Event(const Driver& cuda) : cuda_(cuda) {
        cuda_.check(cuda_.event_create(&event_, CU_EVENT_DEFAULT), "create an event");
    }
    ~Event() { cuda_.event_destroy(event_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    operator CUevent() const { return event_; }

private:
    const Driver& cuda_;
    CUevent event_ = nullptr;
};

}

CudaStream::CudaStream(std::shared_ptr<const CudaContext> context, const DeviceInfo& info)
    : context_(std::move(context)),
      shared_bytes_(info.shared_bytes),
      early_launch_(info.early_launch) {
    const Driver& cuda = context_->enter();
    cuda.check(cuda.stream_create(&stream_, CU_STREAM_NON_BLOCKING), "create a stream");
}

CudaStream::~CudaStream() {
    const Driver& cuda = context_->enter_quietly();
    CUgraph unfinished = nullptr;
    if (capturing_ && cuda.capture_end(stream_, &unfinished) == CUDA_SUCCESS) {
        cuda.graph_destroy(unfinished);
    }
    if (passed_) cuda.event_destroy(passed_);
    if (owned_) cuda.stream_destroy(stream_);
}

void CudaStream::launch(const Kernel& kernel, const LaunchShape& shape,
                        std::span<const std::byte> args) {
    const uint64_t blocks = checked_blocks(kernel, shape);
    if (blocks == 0) return;
    check_launch(kernel, shape, blocks, args.size());

    const Driver& cuda = context_->enter();
    const auto function = static_cast<CUfunction>(kernel.function);
    const auto grid = static_cast<unsigned>(blocks);
    // The driver reads the arguments before it returns.
    void* parameter = const_cast<std::byte*>(args.data());
    void** parameters = args.empty() ? nullptr : &parameter;
    const bool early = early_launch_ && behind_kernel_ && kernel.waits;
    const CUresult result =
        shape.cluster > 1 || early
            ? launch_with_attributes(cuda, stream_, function, grid, shape, early, parameters)
            : cuda.launch(function, grid, 1, 1, shape.threads, 1, 1, shape.shared_bytes, stream_,
                          parameters, nullptr);
    behind_kernel_ = capturing_;
    if (result != CUDA_SUCCESS) {
        cuda.fail(result, "launch the kernel '" + kernel.name + "' with " + std::to_string(blocks) +
                              " blocks of " + std::to_string(shape.threads) + " threads and " +
                              bytes_text(shape.shared_bytes) + " of shared memory (it needs " +
                              std::to_string(kernel.registers) + " registers a thread)");
    }
}

void CudaStream::check_launch(const Kernel& kernel, const LaunchShape& shape, uint64_t blocks,
                              size_t args_bytes) const {
    if (blocks > most_blocks) {
        throw Error(kernel.name, "a launch of " + std::to_string(blocks) + " blocks",
                    "a GPU takes " + std::to_string(most_blocks) + " at most");
    }
    if (shape.threads == 0 || shape.threads > static_cast<uint32_t>(kernel.max_threads)) {
        throw Error(kernel.name,
                    "a launch with " + std::to_string(shape.threads) + " threads a block",
                    "this kernel takes 1 to " + std::to_string(kernel.max_threads));
    }
    if (kernel.shared_bytes + shape.shared_bytes > shared_bytes_) {
        throw Error(kernel.name,
                    "a block needs " + bytes_text(kernel.shared_bytes + shape.shared_bytes) +
                        " of shared memory",
                    "this GPU has " + bytes_text(shared_bytes_));
    }
    if (args_bytes < kernel.args_bytes) {
        throw Error(kernel.name, "it was given " + std::to_string(args_bytes) +
                                     " bytes of arguments and takes " +
                                     std::to_string(kernel.args_bytes));
    }
}

const Driver& CudaStream::enter_for_memory() {
    behind_kernel_ = false;
    return context_->enter();
}

void CudaStream::to_device(void* target, const void* host, size_t bytes) {
    if (bytes == 0) return;
    const Driver& cuda = enter_for_memory();
    require_capturable(cuda, host, "to_device");
    cuda.check(cuda.copy_to_device(address(target), host, bytes, stream_), "copy to the GPU");
}

void CudaStream::to_host(void* host, const void* source, size_t bytes) {
    if (bytes == 0) return;
    const Driver& cuda = enter_for_memory();
    require_capturable(cuda, host, "to_host");
    cuda.check(cuda.copy_to_host(host, address(source), bytes, stream_), "copy from the GPU");
}

void CudaStream::copy(void* target, const void* source, size_t bytes) {
    if (bytes == 0) return;
    const Driver& cuda = enter_for_memory();
    cuda.check(cuda.copy_on_device(address(target), address(source), bytes, stream_),
               "copy on the GPU");
}

void CudaStream::fill(void* target, uint8_t value, size_t bytes) {
    if (bytes == 0) return;
    const Driver& cuda = enter_for_memory();
    cuda.check(cuda.fill_bytes(address(target), value, bytes, stream_), "fill memory on the GPU");
}

// Nothing behind it begins early: what it puts here may be no kernel.
void CudaStream::call(std::function<void()> put) {
    enter_for_memory();
    put();
    enter_for_memory();
}

void CudaStream::synchronize() {
    require_no_capture("synchronize");
    const Driver& cuda = context_->enter();
    cuda.check(cuda.stream_synchronize(stream_), "finish the work on the GPU");
}

void CudaStream::begin_capture() {
    require_no_capture("begin_capture");
    const Driver& cuda = context_->enter();
    // Thread-local: allocations and compiles of other threads do not invalidate the capture.
    cuda.check(cuda.capture_begin(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
               "begin the capture of a graph");
    capturing_ = true;
}

std::unique_ptr<Graph> CudaStream::end_capture() {
    if (!capturing_) throw Error("stream", "end_capture without begin_capture");
    const Driver& cuda = context_->enter();
    capturing_ = behind_kernel_ = false;
    CUgraph captured = nullptr;
    cuda.check(cuda.capture_end(stream_, &captured), "end the capture of a graph");
    return std::make_unique<CudaGraph>(context_, captured);
}

void CudaStream::replay(Graph& graph) {
    require_no_capture("replay");
    const auto* ours = dynamic_cast<const CudaGraph*>(&graph);
    if (!ours) throw Error("stream", "the graph was captured on another kind of device");
    const Driver& cuda = context_->enter();
    cuda.check(cuda.graph_launch(ours->executable(), stream_), "run a graph");
}

double CudaStream::time(const std::function<void()>& work) {
    require_no_capture("time");
    const Driver& cuda = context_->enter();
    const Event begin(cuda);
    const Event end(cuda);
    cuda.check(cuda.event_record(begin, stream_), "start a clock on the GPU");
    work();
    context_->enter();
    cuda.check(cuda.event_record(end, stream_), "stop a clock on the GPU");
    cuda.check(cuda.event_synchronize(end), "finish the work on the GPU");
    float milliseconds = 0;
    cuda.check(cuda.event_elapsed(&milliseconds, begin, end), "read a clock of the GPU");
    return static_cast<double>(milliseconds);
}

// One event serves all calls: a stream waits for what was recorded last when it was told to.
void CudaStream::order(CUstream first, CUstream second) {
    const Driver& cuda = enter_for_memory();
    if (first == second) return;
    if (!passed_)
        cuda.check(cuda.event_create(&passed_, CU_EVENT_DISABLE_TIMING), "create an event");
    cuda.check(cuda.event_record(passed_, first), "mark a place in a stream of the GPU");
    cuda.check(cuda.stream_wait(second, passed_, CU_EVENT_WAIT_DEFAULT),
               "make a stream of the GPU wait");
}

void CudaStream::require_capturable(const Driver& cuda, const void* host, const char* call) const {
    if (!capturing_) return;
    unsigned kind = 0;
    const CUresult result =
        cuda.pointer_attribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address(host));
    if (result == CUDA_SUCCESS && kind == CU_MEMORYTYPE_HOST) return;
    throw Error("stream",
                std::string(call) + " with ordinary host memory cannot be captured in a graph",
                "copy before or after the capture, or use pinned memory");
}

void CudaStream::require_no_capture(const char* call) const {
    if (capturing_) {
        throw Error("stream", std::string(call) + " was called while the stream is capturing");
    }
}

}
