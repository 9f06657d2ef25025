#include "engine/export/c_policy.h"

#include "engine/base/error.h"

namespace nacelle {

std::string c_name(const std::string& text) { return text; }
std::string c_of(const OpenedPolicy&, const std::string&) { throw Error("c", "to come"); }

}
