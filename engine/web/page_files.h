#pragma once
#include "engine/base/embedded_file.h"

#include <span>

namespace nacelle {

// The files of engine/web/page: "page/index.html".
std::span<const EmbeddedFile> page_files();

}
