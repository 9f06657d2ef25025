#include "tests/device/fake_libcuda.h"

#include <cstdlib>
#include <cstring>
#include <utility>

// cuda.h renames this one to a version that older drivers lack.
#undef cuEventElapsedTime

#pragma GCC visibility push(default)

struct CUstream_st {
    bool capturing = false;
    std::vector<std::function<void()>> calls;
};

struct CUfunc_st {
    const char* name;
    std::vector<size_t> parameters;
    int shared_bytes;
};

struct CUgraph_st {
    std::vector<std::function<void()>> calls;
};

namespace {

FakeCuda state;
int the_context, the_module, the_event;
char a_global[12];
thread_local CUcontext current = nullptr;
thread_local int captures = 0;
thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

CUfunc_st functions[] = {
    {"sixteen", {16}, 1024},
    {"nothing", {}, 0},
    {"two", {8, 8}, 0},
};

CUresult ready() {
    if (state.lost != CUDA_SUCCESS) return state.lost;
    return current ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

// What the real driver answers to calls that may synchronise while the thread captures.
CUresult ready_outside_capture() {
    if (captures > 0 && mode != CU_STREAM_CAPTURE_MODE_RELAXED) {
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return ready();
}

CUresult enqueue(CUstream stream, std::function<void()> call) {
    if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
    if (stream->capturing) {
        stream->calls.push_back(std::move(call));
    } else {
        call();
    }
    return CUDA_SUCCESS;
}

void* memory_at(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

CUresult copy(CUstream stream, void* target, const void* source, size_t bytes) {
    return enqueue(stream, [=] { std::memcpy(target, source, bytes); });
}

template <class T> CUresult give(T* target, T value) {
    *target = value;
    return CUDA_SUCCESS;
}

CUresult count(int& counter, int change) {
    counter += change;
    return ready();
}

CUresult record(CUstream stream, CUfunction function, FakeCuda::Launch launch, void** parameters) {
    if (state.at_launch != CUDA_SUCCESS) return state.at_launch;
    launch.kernel = function->name;
    launch.has_args = parameters != nullptr;
    if (parameters && !function->parameters.empty()) {
        const auto* bytes = static_cast<const std::byte*>(parameters[0]);
        launch.args.assign(bytes, bytes + function->parameters[0]);
    }
    return enqueue(stream, [launch = std::move(launch)] { state.launches.push_back(launch); });
}

}

extern "C" {

FakeCuda* fake_cuda() { return &state; }

CUresult cuDriverGetVersion(int* version) { return give(version, state.version); }
CUresult cuInit(unsigned) { return state.at_initialize; }

CUresult cuGetErrorName(CUresult result, const char** name) {
    static const std::map<CUresult, const char*> names = {
        {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
        {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
        {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
        {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"},
    };
    const auto found = names.find(result);
    return found == names.end() ? CUDA_ERROR_INVALID_VALUE : give(name, found->second);
}
CUresult cuGetErrorString(CUresult, const char** text) {
    return give(text, static_cast<const char*>("the driver's own words"));
}

CUresult cuDeviceGetCount(int* count) {
    *count = 1;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    return ordinal == 0 ? give(device, ordinal) : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDeviceGetName(char* name, int bytes, CUdevice) {
    std::strncpy(name, "Fake GPU", static_cast<size_t>(bytes));
    return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice) { return give(bytes, state.memory_total); }
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice) {
    static const std::map<CUdevice_attribute, int> values = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 10},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 5},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 100 * 1024},
    };
    return give(value, values.at(which));
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
    if (state.at_context != CUDA_SUCCESS) return state.at_context;
    ++state.contexts;
    return give(context, reinterpret_cast<CUcontext>(&the_context));
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
    --state.contexts;
    return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) { return give(&current, context); }

CUresult cuMemGetInfo_v2(size_t* available, size_t* total) {
    *total = state.memory_total;
    *available = state.memory_total - state.memory_used;
    return ready();
}
CUresult cuMemAlloc_v2(CUdeviceptr* memory, size_t bytes) {
    if (const CUresult result = ready_outside_capture(); result != CUDA_SUCCESS) return result;
    if (bytes > state.memory_total - state.memory_used) return CUDA_ERROR_OUT_OF_MEMORY;
    void* block = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    std::memset(block, 0xcd, bytes);
    *memory = reinterpret_cast<CUdeviceptr>(block);
    state.memory_used += bytes;
    state.allocations[*memory] = bytes;
    return CUDA_SUCCESS;
}
CUresult cuMemFree_v2(CUdeviceptr memory) {
    if (const CUresult result = ready_outside_capture(); result != CUDA_SUCCESS) return result;
    state.memory_used -= state.allocations.at(memory);
    state.allocations.erase(memory);
    std::free(memory_at(memory));
    return CUDA_SUCCESS;
}
CUresult cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
    if (const CUresult result = ready_outside_capture(); result != CUDA_SUCCESS) return result;
    return give(memory, std::malloc(bytes));
}
CUresult cuMemFreeHost(void* memory) {
    std::free(memory);
    return CUDA_SUCCESS;
}
// A handle has the address: the other process of tests is this one.
CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr memory) {
    if (!state.allocations.contains(memory)) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(handle->reserved, &memory, sizeof memory);
    return CUDA_SUCCESS;
}
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* memory, CUipcMemHandle handle, unsigned) {
    std::memcpy(memory, handle.reserved, sizeof *memory);
    return state.allocations.contains(*memory) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuIpcCloseMemHandle(CUdeviceptr) { return CUDA_SUCCESS; }

CUresult cuPointerGetAttribute(void* kind, CUpointer_attribute, CUdeviceptr memory) {
    if (!state.allocations.contains(memory)) return CUDA_ERROR_INVALID_VALUE;
    *static_cast<unsigned*>(kind) = CU_MEMORYTYPE_DEVICE;
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void* host, size_t bytes, CUstream stream) {
    return copy(stream, memory_at(target), host, bytes);
}
CUresult cuMemcpyDtoHAsync_v2(void* host, CUdeviceptr source, size_t bytes, CUstream stream) {
    return copy(stream, host, memory_at(source), bytes);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes,
                              CUstream stream) {
    return copy(stream, memory_at(target), memory_at(source), bytes);
}
CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t bytes, CUstream stream) {
    if (state.at_zeroing != CUDA_SUCCESS) return state.at_zeroing;
    return enqueue(stream, [=] { std::memset(memory_at(target), value, bytes); });
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
    if (const CUresult result = ready_outside_capture(); result != CUDA_SUCCESS) return result;
    if (std::memcmp(image, "fake", 4) != 0) return CUDA_ERROR_INVALID_IMAGE;
    *module = reinterpret_cast<CUmodule>(&the_module);
    return count(state.modules, 1);
}
CUresult cuModuleUnload(CUmodule) { return count(state.modules, -1); }
CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
    for (CUfunc_st& known : functions) {
        if (std::strcmp(known.name, name) == 0) return give(function, &known);
    }
    return CUDA_ERROR_NOT_FOUND;
}
CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule, const char* name) {
    // The mark of a kernel that waits for the launch before it.
    if (std::strcmp(name, "global") != 0 && std::strcmp(name, "nacelle_waits_sixteen") != 0)
        return CUDA_ERROR_NOT_FOUND;
    *address = reinterpret_cast<CUdeviceptr>(a_global);
    *bytes = sizeof a_global;
    return ready();
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute which, CUfunction function) {
    *value = which == CU_FUNC_ATTRIBUTE_NUM_REGS            ? 40
             : which == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES  ? 24
             : which == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES ? function->shared_bytes
                                                            : 512;
    return ready();
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute, int value) {
    state.dynamic_shared[function->name] = value;
    return ready();
}
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* bytes) {
    if (index >= function->parameters.size()) return CUDA_ERROR_INVALID_VALUE;
    *offset = 0;
    return give(bytes, function->parameters[index]);
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid, unsigned, unsigned, unsigned threads,
                        unsigned, unsigned, unsigned shared, CUstream stream, void** parameters,
                        void**) {
    return record(stream, function, {"", grid, threads, shared, false, {}, false}, parameters);
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** params,
                          void**) {
    bool early = false;
    for (unsigned i = 0; i < config->numAttrs; ++i) {
        early |= config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
                 config->attrs[i].value.programmaticStreamSerializationAllowed != 0;
    }
    return record(
        config->hStream, function,
        {"", config->gridDimX, config->blockDimX, config->sharedMemBytes, false, {}, early},
        params);
}

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
    if (flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    *stream = new CUstream_st;
    return count(state.streams, 1);
}
CUresult cuStreamDestroy_v2(CUstream stream) {
    delete stream;
    return count(state.streams, -1);
}
CUresult cuStreamSynchronize(CUstream stream) {
    if (stream->capturing) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (state.at_synchronize != CUDA_SUCCESS) state.lost = state.at_synchronize;
    return ready();
}
CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode wanted) {
    if (wanted != CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) return CUDA_ERROR_INVALID_VALUE;
    stream->capturing = true;
    ++captures;
    return ready();
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
    stream->capturing = false;
    --captures;
    std::vector<std::function<void()>> calls = std::exchange(stream->calls, {});
    if (state.at_capture_end != CUDA_SUCCESS) return state.at_capture_end;
    *graph = new CUgraph_st{std::move(calls)};
    return count(state.graphs, 1);
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* wanted) {
    std::swap(mode, *wanted);
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
    delete graph;
    return count(state.graphs, -1);
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long) {
    *executable = reinterpret_cast<CUgraphExec>(new CUgraph_st(*graph));
    return count(state.executables, 1);
}
CUresult cuGraphLaunch(CUgraphExec executable, CUstream) {
    for (const auto& call : reinterpret_cast<CUgraph>(executable)->calls) call();
    return ready();
}
CUresult cuGraphExecDestroy(CUgraphExec executable) {
    delete reinterpret_cast<CUgraph>(executable);
    return count(state.executables, -1);
}

CUresult cuEventCreate(CUevent* event, unsigned) {
    *event = reinterpret_cast<CUevent>(&the_event);
    return count(state.events, 1);
}
CUresult cuEventDestroy_v2(CUevent) { return count(state.events, -1); }
CUresult cuEventRecord(CUevent, CUstream stream) {
    state.recorded.push_back(stream);
    return ready();
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent, unsigned) {
    state.waiting.push_back(stream);
    return ready();
}
CUresult cuEventSynchronize(CUevent) { return ready(); }
CUresult cuEventElapsedTime(float* milliseconds, CUevent, CUevent) {
    return give(milliseconds, 1.5f);
}
}

#pragma GCC visibility pop
