#pragma once
#include "engine/device/device.h"

namespace nacelle {

// open_device() with the name or path of the CUDA library, which a test may replace.
DeviceChoice choose_device(const std::string& backend, int threads, const std::string& cuda_library,
                           const std::function<void()>& starting = {}, int gpu = 0);

}
