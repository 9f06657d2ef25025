#pragma once
#include "engine/view/display_list.h"
#include "tools/run_curves.h"

namespace nacelle::tools {

// The curves of one metric, a panel of the picture.
struct PlotPanel {
    std::string metric;
    std::vector<Curve> curves;    // one for each group, in their order
};

// What a picture can tell apart: seven colours, plain and dashed.
inline constexpr size_t most_curves = 14;

// Panels below each other over a common axis, with a legend.
DisplayList plot_picture(const std::vector<PlotPanel>& panels, Abscissa abscissa);

}
