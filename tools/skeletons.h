#pragma once
#include "engine/base/embedded_file.h"

#include <span>

namespace nacelle::tools {

// The files of tools/skeletons, by names such as "skeletons/alone.cu".
std::span<const EmbeddedFile> skeleton_files();

}
