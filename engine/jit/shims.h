#pragma once
#include "engine/jit/jit.h"

#include <vector>

namespace nacelle {

// The few standard headers that an author's file may include although NVRTC has none.
std::vector<MemoryHeader> standard_shims();

}
