#pragma once
#include "engine/jit/jit.h"
#include "engine/watch/line_viewer.h"

namespace nacelle {

// The compiler, which tells a viewer when it begins and when it is done: only meanwhile is silence no sign
// that an author's function does not come back.
std::unique_ptr<Compiler> told_compiler(std::unique_ptr<Compiler> inner,
                                        std::shared_ptr<LineViewer> viewer);

}
