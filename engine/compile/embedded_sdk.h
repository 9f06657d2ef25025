#pragma once
#include "engine/base/embedded_file.h"

#include <span>

namespace nacelle {

// Every header of the SDK, sorted by the name under which it is included: "nacelle/env.h".
std::span<const EmbeddedFile> embedded_sdk();

}
