#pragma once
#include <nacelle/platform.h>
// How fused networks, whose layers one kernel computes, are cut. Host and device share this text.

namespace learn {

inline constexpr int warp_rows = 16;          // that a warp takes through the layers
inline constexpr int rollout_threads = 64;    // two warps: few environments reach many processors

}
