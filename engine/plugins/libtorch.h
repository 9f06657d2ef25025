#pragma once
#include <cstddef>
#include <span>

namespace nacelle {

// Opens the libraries of LibTorch that a plugin with these bytes needs, unless this process has them: those that
// `tools/nacelle torch` has installed for this user, or those of the wheel's folder that NACELLE_TORCH names. The loader
// then takes these, so that no plugin names a folder of the user who built it. Throws with the loader's reason.
void open_libtorch_for(std::span<const std::byte> plugin);

}
