#pragma once
#include <nacelle/schema.h>
#include <span>
#include <string>

namespace nacelle {

// Throws where a table's names, sizes or places are none that an environment can have. All that is
// computed from the table later relies on it: that names end, that arrays lie in the view and parameters
// in Params, and that no product of sizes overflows. `what` names the binary that holds it.
void require_sound(const Header& header, std::span<const Field> fields, const std::string& what);

}
