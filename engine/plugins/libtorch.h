#pragma once
#include <cstddef>
#include <span>

namespace nacelle {

// Opens LibTorch's libraries for a plugin with these bytes, from the user's own installation by `tools/nacelle torch` or
// from the wheel's folder in NACELLE_TORCH. The loader then takes the open libraries: a plugin names no folder of its
// builder. Leaves out libraries that are open already. Throws with the loader's reason.
void open_libtorch_for(std::span<const std::byte> plugin);

}
