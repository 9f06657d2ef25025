#pragma once
#include "engine/compile/assigned_policies.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace nacelle {

// Whether a text is an identifier, or several with dots between them: "map", "state.pos.x". Non-ASCII letters count,
// since both compilers take them.
bool is_dotted_name(std::string_view text);
// One without dots: the name of a policy.
bool is_name(std::string_view text);
// Such a text as a string of C++; throws, with `where` and the setting, where it is none.
std::string quoted_name(const std::string& name, const std::string& key, const std::string& where);

// The defines that decide on the layout of an environment's arrays: the constants that are set, the parameters that
// are drawn for each episode, and the policies that agents are given. The values may come from a stranger's recording
// and become code. Therefore only parsed names and finite numbers are written; others throw with `where` in front.
std::vector<std::string> layout_defines(const std::map<std::string, double>& constants,
                                        const std::set<std::string>& varied,
                                        const AssignedPolicies& policies, const std::string& where);

}
