#pragma once
#include "engine/jit/jit.h"

#include <vector>

namespace nacelle {

// Replacements for the few standard headers that an author's file may include: NVRTC has none.
std::vector<MemoryHeader> standard_headers();

}
