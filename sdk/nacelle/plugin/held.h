#pragma once
#include <nacelle/plugin/guard.h>
#include <nacelle/plugin/host.h>
#include <string_view>

namespace nacelle::plugin {

// An object of a plugin's class, and whom its functions tell why they failed.
template <class T> struct Held {
    Held(const nacelle_host* its_host, const char* config)
        : host(its_host), object(Host(its_host), std::string_view(config)) {}
    const nacelle_host* host;
    T object;
};

}
