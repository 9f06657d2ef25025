#pragma once
#include "engine/view/display_list.h"

#include <string>

namespace nacelle {

// The picture as the text of an SVG file, its longer side this many pixels long. The same list gives
// the same bytes.
std::string svg_text(const DisplayList& list, const std::string& title, int pixels = 720);

}
