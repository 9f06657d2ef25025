#pragma once
#include "engine/view/display_list.h"

#include <string>

namespace nacelle {

// The picture as an SVG text whose longer side has `pixels` pixels. Equal lists give equal bytes.
std::string svg_text(const DisplayList& list, const std::string& title, int pixels = 720);

}
