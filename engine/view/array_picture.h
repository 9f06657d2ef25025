#pragma once
#include "engine/view/display_list.h"
#include "engine/view/scene.h"

namespace nacelle {

// A picture of an environment without a draw(): an array of an observation that has the shape of an
// image as that image, and what it holds, what was done and what is seen as bars.
DisplayList picture_of_arrays(const Scene& scene);

}
