#pragma once
#include "engine/view/display_list.h"
#include "tools/web.h"

namespace nacelle::tools {

// Shows a picture of runs on a page until an interrupt, and draws it anew whenever their metrics grow.
void plot_on_page(const std::vector<std::filesystem::path>& runs,
                  const std::function<DisplayList()>& draw, const WebOptions& web, bool json);

}
