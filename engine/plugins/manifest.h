#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace nacelle {

struct PluginOffer {
    std::string kind;    // "sink/1"; one that this host does not know is kept and never used
    std::string name;

    bool operator==(const PluginOffer&) const = default;
};

// What a plugin says of itself.
struct PluginManifest {
    std::string id, version, description, built_with;
    std::vector<PluginOffer> offers;

    bool offers_one(const PluginOffer&) const;
};

// Reads the manifest from a shared object's bytes, without loading it. Throws with the reason where
// this host would not open it; `what` names the file.
PluginManifest read_manifest(std::span<const std::byte> file, const std::string& what);

}
