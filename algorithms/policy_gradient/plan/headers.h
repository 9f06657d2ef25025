#pragma once
#include <nacelle/plugin/abi.h>
#include <span>

namespace learn {

// The kernels' texts, which travel in the plugins.
std::span<const nacelle_header> kernel_headers();

}
