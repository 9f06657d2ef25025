#pragma once
#include "engine/config/config.h"

#include <filesystem>

namespace nacelle {

// Lays settings over others: objects key by key, all other values in place of what was there, schedules and distributions
// among them.
void lay_over(Json& base, const Json& over);

// Returns assignments such as "env.count=512" as settings.
Json said_by(const std::vector<std::string>& assignments);

// Whether the file is a run's own configuration. In it each policy has all of its settings, so that what is said of
// policies.default over it would change none of them.
bool is_written_by_run(const std::filesystem::path& file);
// What settings that lie over a run's own configuration say of all policies, said of each that has it there. It lies
// below what they say of one.
Json said_of_each(const Json& over, const Json& own);

}
