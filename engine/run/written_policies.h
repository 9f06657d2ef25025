#pragma once
#include "engine/config/config.h"

#include <filesystem>

namespace nacelle {

// In a run's own configuration each policy has all of its settings, and what is said of policies.default over it would
// change none of them.

// Whether the file is one.
bool is_written_by_run(const std::filesystem::path& file);
// The assignments, each to policies.default followed by the same to every policy of the configuration that has the
// setting, unless another assignment says something of it.
std::vector<std::string> said_of_each(const std::vector<std::string>& assignments, const Json& own);
// The same for settings that lie over it.
Json said_of_each(Json over, const Json& own);

}
