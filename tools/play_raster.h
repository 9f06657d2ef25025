#pragma once
#include "engine/view/display_list.h"

namespace nacelle::tools {

// An RGB image, from the top left.
struct Pixels {
    int wide = 0, high = 0;
    std::vector<uint8_t> rgb;
};

// Renders an image whose longer side has `pixels` pixels. Equal lists give equal bytes on every machine: letters are
// strokes, not fonts.
Pixels rasterised(const DisplayList& list, int pixels);

}
