#pragma once
#include "engine/view/display_list.h"
#include "engine/view/scene.h"

namespace nacelle {

// A picture of an environment without a draw(): an observation array with the shape of an image as that image, and
// states, actions and observations as bars.
DisplayList picture_of_arrays(const Scene& scene);

}
