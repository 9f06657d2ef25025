#pragma once
#include <cuda.h>

// The calls of the CUDA driver that the engine makes: our name, the symbol, the signature. The suffixes are spelled
// out because the macros of cuda.h follow the newest driver: each of these symbols has this signature in every driver
// since CUDA 12.0.
#define NACELLE_CUDA_CALLS(CALL)                                                                   \
    CALL(error_name, "cuGetErrorName", CUresult(CUresult, const char**))                           \
    CALL(error_text, "cuGetErrorString", CUresult(CUresult, const char**))                         \
    CALL(initialize, "cuInit", CUresult(unsigned))                                                 \
    CALL(device_count, "cuDeviceGetCount", CUresult(int*))                                         \
    CALL(device_get, "cuDeviceGet", CUresult(CUdevice*, int))                                      \
    CALL(device_name, "cuDeviceGetName", CUresult(char*, int, CUdevice))                           \
    CALL(device_memory, "cuDeviceTotalMem_v2", CUresult(size_t*, CUdevice))                        \
    CALL(device_attribute, "cuDeviceGetAttribute", CUresult(int*, CUdevice_attribute, CUdevice))   \
    CALL(context_retain, "cuDevicePrimaryCtxRetain", CUresult(CUcontext*, CUdevice))               \
    CALL(context_release, "cuDevicePrimaryCtxRelease_v2", CUresult(CUdevice))                      \
    CALL(context_set, "cuCtxSetCurrent", CUresult(CUcontext))                                      \
    CALL(memory_info, "cuMemGetInfo_v2", CUresult(size_t*, size_t*))                               \
    CALL(memory_allocate, "cuMemAlloc_v2", CUresult(CUdeviceptr*, size_t))                         \
    CALL(memory_free, "cuMemFree_v2", CUresult(CUdeviceptr))                                       \
    CALL(host_allocate, "cuMemHostAlloc", CUresult(void**, size_t, unsigned))                      \
    CALL(host_free, "cuMemFreeHost", CUresult(void*))                                              \
    CALL(share_memory, "cuIpcGetMemHandle", CUresult(CUipcMemHandle*, CUdeviceptr))                \
    CALL(open_shared, "cuIpcOpenMemHandle_v2", CUresult(CUdeviceptr*, CUipcMemHandle, unsigned))   \
    CALL(close_shared, "cuIpcCloseMemHandle", CUresult(CUdeviceptr))                               \
    CALL(pointer_attribute, "cuPointerGetAttribute",                                               \
         CUresult(void*, CUpointer_attribute, CUdeviceptr))                                        \
    CALL(copy_to_device, "cuMemcpyHtoDAsync_v2",                                                   \
         CUresult(CUdeviceptr, const void*, size_t, CUstream))                                     \
    CALL(copy_to_host, "cuMemcpyDtoHAsync_v2", CUresult(void*, CUdeviceptr, size_t, CUstream))     \
    CALL(copy_on_device, "cuMemcpyDtoDAsync_v2",                                                   \
         CUresult(CUdeviceptr, CUdeviceptr, size_t, CUstream))                                     \
    CALL(fill_bytes, "cuMemsetD8Async", CUresult(CUdeviceptr, unsigned char, size_t, CUstream))    \
    CALL(module_load, "cuModuleLoadData", CUresult(CUmodule*, const void*))                        \
    CALL(module_unload, "cuModuleUnload", CUresult(CUmodule))                                      \
    CALL(module_function, "cuModuleGetFunction", CUresult(CUfunction*, CUmodule, const char*))     \
    CALL(module_global, "cuModuleGetGlobal_v2",                                                    \
         CUresult(CUdeviceptr*, size_t*, CUmodule, const char*))                                   \
    CALL(function_attribute, "cuFuncGetAttribute",                                                 \
         CUresult(int*, CUfunction_attribute, CUfunction))                                         \
    CALL(function_set, "cuFuncSetAttribute", CUresult(CUfunction, CUfunction_attribute, int))      \
    CALL(launch, "cuLaunchKernel",                                                                 \
         CUresult(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,          \
                  unsigned, CUstream, void**, void**))                                             \
    CALL(launch_with, "cuLaunchKernelEx",                                                          \
         CUresult(const CUlaunchConfig*, CUfunction, void**, void**))                              \
    CALL(stream_create, "cuStreamCreate", CUresult(CUstream*, unsigned))                           \
    CALL(stream_destroy, "cuStreamDestroy_v2", CUresult(CUstream))                                 \
    CALL(stream_synchronize, "cuStreamSynchronize", CUresult(CUstream))                            \
    CALL(capture_begin, "cuStreamBeginCapture_v2", CUresult(CUstream, CUstreamCaptureMode))        \
    CALL(capture_end, "cuStreamEndCapture", CUresult(CUstream, CUgraph*))                          \
    CALL(capture_mode, "cuThreadExchangeStreamCaptureMode", CUresult(CUstreamCaptureMode*))        \
    CALL(graph_destroy, "cuGraphDestroy", CUresult(CUgraph))                                       \
    CALL(graph_instantiate, "cuGraphInstantiateWithFlags",                                         \
         CUresult(CUgraphExec*, CUgraph, unsigned long long))                                      \
    CALL(graph_launch, "cuGraphLaunch", CUresult(CUgraphExec, CUstream))                           \
    CALL(graph_release, "cuGraphExecDestroy", CUresult(CUgraphExec))                               \
    CALL(event_create, "cuEventCreate", CUresult(CUevent*, unsigned))                              \
    CALL(event_destroy, "cuEventDestroy_v2", CUresult(CUevent))                                    \
    CALL(event_record, "cuEventRecord", CUresult(CUevent, CUstream))                               \
    CALL(stream_wait, "cuStreamWaitEvent", CUresult(CUstream, CUevent, unsigned))                  \
    CALL(event_synchronize, "cuEventSynchronize", CUresult(CUevent))                               \
    CALL(event_elapsed, "cuEventElapsedTime", CUresult(float*, CUevent, CUevent))

// Calls of newer drivers; null where this driver lacks them.
#define NACELLE_CUDA_NEWER_CALLS(CALL)                                                             \
    CALL(function_parameter, "cuFuncGetParamInfo", CUresult(CUfunction, size_t, size_t*, size_t*))
