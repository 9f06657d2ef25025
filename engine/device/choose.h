#pragma once
#include "engine/device/device.h"

namespace nacelle {

// open_device with the CUDA library's name or path, so that a test can bring its own.
DeviceChoice choose_device(const std::string& backend, int threads, const std::string& cuda_library,
                           const std::function<void()>& starting = {});

}
