// A manifest, and nothing behind it.
#include <nacelle/plugin/manifest.h>

namespace {

struct Nothing {
    static constexpr const char* kind = "sink/1";
    static constexpr const char* name = "nothing";
    static const void* table() { return nullptr; }
};

}

extern "C" constinit const nacelle_manifest nacelle_plugin =
    nacelle::plugin::manifest<Nothing>("test.no_get", "1", "");
