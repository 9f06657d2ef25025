#pragma once
#include "engine/base/error.h"
#include "engine/config/config.h"

namespace nacelle {

// The configuration as a plugin gets it.
inline std::string config_text(const std::string& plugin, const Json& config) {
    if (!config.is_object())
        throw Error(plugin, "is configured with " + config.dump() + ", not with an object");
    try {
        return config.dump();
    } catch (const Json::exception&) {
        throw Error(plugin, "its configuration holds a text that is not UTF-8");
    }
}

}
