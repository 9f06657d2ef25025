#pragma once
#include "engine/policy/open_policy.h"

namespace nacelle {

// A policy as a header of C99 that includes nothing, links to nothing and allocates nothing. `name` begins all its
// names.
std::string c_of(const OpenedPolicy& policy, const std::string& name);
// What C takes as such a name, of any text.
std::string c_name(const std::string& text);

}
