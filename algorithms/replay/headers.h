#pragma once
#include <nacelle/plugin/abi.h>
#include <span>

namespace replay {

// The texts of the kernels of replays, which travel in the plugin.
std::span<const nacelle_header> kernel_headers();

}
