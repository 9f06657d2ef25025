#pragma once
#include <cstddef>
#include <cuda.h>
#include <functional>
#include <map>
#include <string>
#include <vector>

// A CUDA driver without a GPU: memory is the host's, copies happen at once, launches are written
// down. A test reads and changes its behaviour here.
struct FakeCuda {
    struct Launch {
        std::string kernel;
        unsigned grid = 0;
        unsigned threads = 0;
        unsigned shared_bytes = 0;
        bool has_args = false;
        std::vector<std::byte> args;
        bool early = false;    // while the kernel before it runs
    };

    // What goes wrong.
    int version = 12040;
    CUresult at_initialize = CUDA_SUCCESS;
    CUresult at_context = CUDA_SUCCESS;
    CUresult at_launch = CUDA_SUCCESS;
    CUresult at_zeroing = CUDA_SUCCESS;
    CUresult at_capture_end = CUDA_SUCCESS;
    CUresult at_synchronize = CUDA_SUCCESS;
    CUresult lost = CUDA_SUCCESS;    // every call answers this from then on
    size_t memory_total = size_t{1} << 30;

    // What was done.
    std::vector<Launch> launches;
    std::vector<CUstream> recorded;    // by the event
    std::vector<CUstream> waiting;     // for it
    std::map<std::string, int> dynamic_shared;
    std::map<CUdeviceptr, size_t> allocations;
    size_t memory_used = 0;
    int contexts = 0;
    int streams = 0;
    int modules = 0;
    int graphs = 0;
    int executables = 0;
    int events = 0;
};
