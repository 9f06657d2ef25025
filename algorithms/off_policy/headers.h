#pragma once
#include <nacelle/plugin/abi.h>
#include <span>

namespace off_policy {

// The kernels' texts, which travel in the plugin.
std::span<const nacelle_header> kernel_headers();

}
