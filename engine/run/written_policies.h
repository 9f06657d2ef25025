#pragma once
#include "engine/config/config.h"

#include <filesystem>

namespace nacelle {

// Whether the file is a run's own configuration. In it each policy has all of its settings, so that what is said of
// policies.default over it would change none of them.
bool is_written_by_run(const std::filesystem::path& file);
// Settings that lie over a run's own configuration, in which what they say of all policies is said of each that has the
// setting, below what they say of that one.
Json said_of_each(Json over, const Json& own);

}
