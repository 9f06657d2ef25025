#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace nacelle {

// "did you mean 'gravity'?" where one of the names is close; else "there is: a, b, c" (a few of
// them). Empty where there are no names. A dotted name is compared part by part.
std::string suggest(std::string_view wrong, const std::vector<std::string>& names);

}
