#pragma once
#include "engine/jit/jit.h"

namespace nacelle {

// open_nvrtc() with places of the caller's own.
std::unique_ptr<Compiler> open_nvrtc_from(const std::vector<std::filesystem::path>& places,
                                          std::string architecture, std::shared_ptr<Cache> cache,
                                          std::shared_ptr<CompileHelpers> helpers = nullptr);

}
