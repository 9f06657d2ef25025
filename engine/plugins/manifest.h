#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace nacelle {

struct PluginOffer {
    std::string kind;    // "sink/1"; unknown kinds are kept and not used
    std::string name;

    bool operator==(const PluginOffer&) const = default;
};

// The manifest of a plugin.
struct PluginManifest {
    std::string id, version, description;
    std::vector<PluginOffer> offers;

    bool offers_one(const PluginOffer&) const;
};

// Reads the manifest from a shared object's bytes, without loading it. Throws where this host cannot open the plugin;
// `what` names the file.
PluginManifest read_manifest(std::span<const std::byte> file, const std::string& what);

}
