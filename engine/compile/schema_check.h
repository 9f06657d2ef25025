#pragma once
#include <nacelle/schema.h>
#include <span>
#include <string>

namespace nacelle {

// Throws where names, sizes or offsets of a table are invalid. Later code relies on this check: names are terminated,
// arrays lie within the view and parameters within Params, and no product of sizes overflows. `what` names the
// binary.
void require_sound(const Header& header, std::span<const Field> fields, const std::string& what);

}
