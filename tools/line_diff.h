#pragma once
#include <optional>
#include <string>
#include <vector>

namespace nacelle::tools {

// The lines of a unified diff below its two headers: "@@ -3,7 +3,8 @@", " same", "-old", "+new". Empty where the texts
// are equal; nothing where they differ in too many lines to be compared.
std::optional<std::vector<std::string>> line_diff(const std::string& before,
                                                  const std::string& after);

}
