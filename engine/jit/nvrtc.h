#pragma once
#include "engine/jit/jit.h"

namespace nacelle {

// open_nvrtc() that searches the given places.
std::unique_ptr<Compiler> open_nvrtc_from(const std::vector<std::filesystem::path>& places,
                                          std::string architecture, std::shared_ptr<Cache> cache,
                                          std::shared_ptr<CompileHelpers> helpers = nullptr);

}
