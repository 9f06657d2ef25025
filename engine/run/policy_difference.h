#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace nacelle {

// Why policies that were trained in one way cannot act in the place of others, as a sentence with both sizes; empty
// where each of `here` is among the `trained`. Both are what a learner tells of its policies.
std::string difference_of_policies(const nlohmann::json& trained, const nlohmann::json& here);
// The same of what the policy with this name sees and does, without how it decides.
std::string difference_in_spaces(const std::string& name, const nlohmann::json& trained,
                                 const nlohmann::json& here);

// The names of the arrays that the policies act by, without the learner's name, each once.
std::vector<std::string> arrays_of_policies(const nlohmann::json& policies);

}
