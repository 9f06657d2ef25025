#pragma once
#include "engine/base/shared_library.h"
#include "engine/device/cuda/cuda_device.h"
#include "tests/device/fake_libcuda.h"
#include "tests/device/support.h"

#include <memory>

// The fake driver in its first state, held open so that it keeps what a test sets.
struct FakeCudaSession {
    FakeCudaSession() : library(fake_libcuda), cuda(*library.function<FakeCuda*()>("fake_cuda")()) {
        cuda = FakeCuda();
    }

    std::shared_ptr<nacelle::Device> open() const { return nacelle::open_cuda(fake_libcuda); }

    nacelle::SharedLibrary library;
    FakeCuda& cuda;
};
