#pragma once
#include "engine/device/device.h"

namespace nacelle {

// The same device, which keeps what is released until somebody asks for the same again: memory by its size, modules by
// their binary, streams. For runs of one configuration that follow each other: the driver takes much longer to free,
// allocate and load than a small run to train, and does it for one thread at a time.
//
// Memory is zero as when it is new. Of a module's variables the host sets the view again, and kernels may have none that
// they write: an environment has its State alone, to which `nacelle check` holds it. Memory is not asked for while a stream
// of this device captures.
std::shared_ptr<Device> keeping(std::shared_ptr<Device> device);

}
