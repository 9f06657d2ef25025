#pragma once
#include "engine/jit/author_source.h"

namespace nacelle {

// The field or the member to blame for an assertion that begins with a struct's name, as ": its field 'pos' is a
// Vec2, which has a constructor"; found by the author's text alone, and empty where that does not show it.
std::string culprit_of(const std::string& assertion, const std::vector<SourceFile>& closure);

}
