#pragma once
#include "engine/view/display_list.h"

namespace nacelle::tools {

// A picture of pixels, three bytes each, from the top left.
struct Pixels {
    int wide = 0, high = 0;
    std::vector<uint8_t> rgb;
};

// Its longer side has this many pixels. The same list gives the same bytes on every machine: letters are
// strokes, not fonts.
Pixels rasterised(const DisplayList& list, int pixels);

}
