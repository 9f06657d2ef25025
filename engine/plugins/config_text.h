#pragma once
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/config/config.h"

namespace nacelle {

// The configuration as text for a plugin.
inline std::string config_text(const std::string& plugin, const Json& config) {
    if (!config.is_object())
        throw Error(plugin, "is configured with " + json_text(config) + ", not with an object");
    if (!has_only_texts(config, is_valid_utf8))
        throw Error(plugin, "its configuration holds a text that is not UTF-8");
    return json_text(config);
}

}
