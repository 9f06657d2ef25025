#pragma once
#include "tools/play_export.h"

namespace nacelle::tools {

// Prints what is selected of a recording, for people and as JSON lines.
void list_text(const Recording& recording, const Selection& selection);
void list_json(const Recording& recording, const Selection& selection);

}
