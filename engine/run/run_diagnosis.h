#pragma once
#include "engine/run/diagnosis.h"

#include <filesystem>

namespace nacelle {

// What the metrics and the newest whole checkpoint in a run's directory show. A run that was solved is not suspected.
std::vector<Suspicion> suspicions_in(const std::filesystem::path& run, const Json& configuration);

}
