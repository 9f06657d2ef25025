#include "engine/run/policy_difference.h"

#include "engine/base/text.h"
#include "engine/config/config.h"

#include <algorithm>

namespace nacelle {
namespace {

Json value_of(const Json& object, const char* key) {
    return object.is_object() ? object.value(key, Json()) : Json();
}
std::string plain(const Json& value) {
    return printable(value.is_string() ? value.get<std::string>() : json_text(value));
}

// "22 numbers (obs 22)"
std::string observation_words(const Json& policy) {
    uint64_t all = 0;
    std::string arrays;
    for (const Json& array : value_of(policy, "observation")) {
        const Json count = value_of(array, "count");
        all += count.is_number_unsigned() ? count.get<uint64_t>() : 0;
        arrays +=
            (arrays.empty() ? "" : ", ") + plain(value_of(array, "name")) + " " + plain(count);
    }
    return std::to_string(all) + " numbers (" + arrays + ")";
}
// "action.go of 5, action.push from -2 to 3"
std::string action_words(const Json& policy) {
    std::string parts;
    for (const Json& part : value_of(policy, "actions")) {
        const Json choices = value_of(part, "choices");
        parts += (parts.empty() ? "" : ", ") + plain(value_of(part, "name"));
        if (!choices.is_null()) parts += " of " + plain(choices);
        else
            parts +=
                " from " + plain(value_of(part, "low")) + " to " + plain(value_of(part, "high"));
    }
    return parts;
}
std::string network_words(const Json& policy) {
    const Json network = value_of(policy, "network");
    return plain(value_of(network, "sizes")) + " " + plain(value_of(network, "activation"));
}

std::string difference_of_one(const std::string& name, const Json& trained, const Json& here) {
    if (trained == here) return {};
    const std::string spaces = difference_in_spaces(name, trained, here);
    if (!spaces.empty() || value_of(here, "random") == Json(true)) return spaces;
    const std::string quoted = "'" + printable(name) + "'";
    if (value_of(trained, "network") != value_of(here, "network"))
        return quoted + " has a network of " + network_words(here) +
               " here; it was trained with one of " + network_words(trained);
    return quoted + " is set to act in another way here than in training";
}

}

std::string difference_in_spaces(const std::string& name, const Json& trained, const Json& here) {
    const std::string quoted = "'" + printable(name) + "'";
    const auto differ = [&](const char* key) {
        return value_of(trained, key) != value_of(here, key);
    };
    if (differ("observation"))
        return quoted + " sees " + observation_words(here) + " here; it was trained with " +
               observation_words(trained);
    if (differ("actions"))
        return quoted + " acts by " + action_words(here) + " here; it was trained with " +
               action_words(trained);
    return {};
}

std::string difference_of_policies(const Json& trained, const Json& here) {
    for (const auto& [name, policy] : here.items()) {
        if (!trained.contains(name)) return "has no policy '" + printable(name) + "'";
        const std::string difference = difference_of_one(name, trained[name], policy);
        if (!difference.empty()) return difference;
    }
    return {};
}

std::vector<std::string> arrays_of_policies(const Json& policies) {
    std::vector<std::string> names;
    for (const auto& item : policies.items())
        for (const auto& [part, key] :
             {std::pair("network", "weights"), std::pair("normaliser", "mean"),
              std::pair("normaliser", "scale")}) {
            const Json name = value_of(value_of(item.value(), part), key);
            if (name.is_string() && std::find(names.begin(), names.end(), name) == names.end())
                names.push_back(name.get<std::string>());
        }
    return names;
}

}
