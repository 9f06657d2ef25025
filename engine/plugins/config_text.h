#pragma once
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/config/config.h"

#include <algorithm>

namespace nacelle {

// Whether all texts of a value can be handed on as they are.
inline bool is_utf8(const Json& value) {
    if (value.is_string()) return is_valid_utf8(value.get_ref<const std::string&>());
    if (!value.is_structured()) return true;
    const auto items = value.items();
    return std::all_of(items.begin(), items.end(), [](const auto& item) {
        return is_valid_utf8(item.key()) && is_utf8(item.value());
    });
}

// The configuration as a plugin gets it.
inline std::string config_text(const std::string& plugin, const Json& config) {
    if (!config.is_object())
        throw Error(plugin, "is configured with " + json_text(config) + ", not with an object");
    if (!is_utf8(config)) throw Error(plugin, "its configuration holds a text that is not UTF-8");
    return json_text(config);
}

}
