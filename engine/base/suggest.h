#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace nacelle {

// "did you mean 'gravity'?" where a name is close, else "there is: a, b, c" with a few names; empty where there are
// none. A dotted name is compared part by part.
std::string suggest(std::string_view wrong, const std::vector<std::string>& names);

}
