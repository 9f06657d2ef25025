#pragma once
#include "engine/base/embedded_file.h"

#include <span>

namespace nacelle::tools {

// The files of tools/skeletons: "skeletons/alone.cu".
std::span<const EmbeddedFile> skeleton_files();

}
