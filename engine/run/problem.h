#pragma once
#include "engine/config/config.h"
#include "engine/run/author_files.h"

namespace nacelle {

// What returns depend on beside the policy: the parameters and other settings of the environment, its tables, its code
// and the hooks. Returns are compared only where all of it is the same. `configuration` has every default.
Json problem_of(const Json& configuration, const AuthorFiles& files);
// "env.params.scale is 1, and was 10"; empty where both are the same.
std::string difference_of_problems(const Json& then, const Json& now);

}
