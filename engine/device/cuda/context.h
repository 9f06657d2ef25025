#pragma once
#include "engine/device/cuda/driver.h"

#include <memory>

namespace nacelle {

// The primary context of a GPU, shared with all other users in the process. Every object of a device holds it, so
// that they can be destroyed in any order.
class CudaContext final {
public:
    CudaContext(std::shared_ptr<const Driver> driver, int ordinal);
    ~CudaContext();
    CudaContext(const CudaContext&) = delete;
    CudaContext& operator=(const CudaContext&) = delete;

    CUdevice device() const { return device_; }
    // The driver, with this context current on the calling thread: each public call begins here.
    const Driver& enter() const {
        driver_->check(driver_->context_set(context_), "make the GPU current on this thread");
        return *driver_;
    }
    // The same without exceptions; on a lost device the following calls fail harmlessly.
    const Driver& enter_quietly() const noexcept {
        driver_->context_set(context_);
        return *driver_;
    }

private:
    std::shared_ptr<const Driver> driver_;
    CUdevice device_ = 0;
    CUcontext context_ = nullptr;
};

// Lets the calling thread allocate, free and load while one of its streams is capturing: these calls do not become
// part of the graph, and without this they would invalidate the capture.
class OutsideCapture final {
public:
    explicit OutsideCapture(const Driver& driver) : driver_(driver) {
        driver_.capture_mode(&mode_);
    }
    ~OutsideCapture() { driver_.capture_mode(&mode_); }
    OutsideCapture(const OutsideCapture&) = delete;
    OutsideCapture& operator=(const OutsideCapture&) = delete;

private:
    const Driver& driver_;
    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

}
