#pragma once
#include "engine/policy/open_policy.h"

namespace nacelle {

// A policy as a header of C99 that includes nothing but <stdint.h>-free types of the language, calls nothing and
// allocates nothing; `name` begins all its names.
std::string c_of(const OpenedPolicy& policy, const std::string& name);
// What such a name can be made of this text: letters, digits and lower lines.
std::string c_name(const std::string& text);

}
