#pragma once
#include "engine/run/configuration.h"

namespace nacelle::test {

inline Json resolved(const ConfigurationSources& sources) {
    return resolve_configuration(sources).json;
}

}
