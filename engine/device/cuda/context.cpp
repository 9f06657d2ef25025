#include "engine/device/cuda/context.h"

#include <utility>

namespace nacelle {

CudaContext::CudaContext(std::shared_ptr<const Driver> driver, int ordinal)
    : driver_(std::move(driver)) {
    driver_->check(driver_->device_get(&device_, ordinal), "find the GPU");
    driver_->check(driver_->context_retain(&context_, device_), "create a context on the GPU");
}

CudaContext::~CudaContext() { driver_->context_release(device_); }

}
