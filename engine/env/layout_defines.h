#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace nacelle {

// Whether a text is one identifier, or several with dots between them: "map", "state.pos.x". Letters
// beyond ASCII count, since both compilers take them.
bool is_dotted_name(std::string_view text);

// What decides on the layout of an environment's arrays, as the SDK's macros take it: the constants that
// are set, and the parameters that are drawn for each episode. This text becomes code and may come from
// a stranger's recording, so that it is written from parsed values alone: throws, with `where` before
// it, for what is no name or no finite number.
std::vector<std::string> layout_defines(const std::map<std::string, double>& constants,
                                        const std::set<std::string>& varied,
                                        const std::string& where);

}
