#pragma once
#include "engine/jit/jit.h"
#include "engine/watch/channel_viewer.h"

namespace nacelle {

// A compiler that tells a viewer when it begins and ends: silence during a compile does not mean that an author's
// function hangs.
std::unique_ptr<Compiler> reporting_compiler(std::unique_ptr<Compiler> inner,
                                             std::shared_ptr<ChannelViewer> viewer);

}
