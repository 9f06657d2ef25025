#pragma once
#include "engine/recording/recording.h"

namespace nacelle::tools {

// Prints the content of a recording, for people and as JSON lines.
void list_text(const Recording& recording);
void list_json(const Recording& recording);

}
