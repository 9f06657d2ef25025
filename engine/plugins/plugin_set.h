#pragma once
#include "engine/base/log.h"
#include "engine/plugins/library.h"

#include <map>
#include <memory>
#include <optional>
#include <set>

namespace nacelle {

class NamedArray;

// One file of the search folders: what it is, or why it would not be opened.
struct PluginFile {
    std::filesystem::path path;
    std::optional<PluginManifest> manifest;
    std::string refused;    // empty where there is a manifest
};

// The plugins that are to be had: the .so files of some folders, and those that were named. An
// explicitly loaded one goes before the folders', and an earlier folder before a later one.
class Plugins final {
public:
    Plugins(std::vector<std::filesystem::path> folders, std::shared_ptr<Cache> cache,
            Log log = Log());

    // Every candidate; no library is opened for it.
    std::vector<PluginFile> list() const;
    // Opens the file now. One of an id is loaded at a time: it takes the place of an earlier one,
    // whose instances keep what they have.
    const PluginManifest& load(const std::filesystem::path& path);
    // The plugin that offers it, opened where it was not. A file that was replaced since is opened
    // anew. Throws with what there is instead.
    std::shared_ptr<const PluginLibrary> find(const PluginOffer& wanted);

    const Log& log() const { return log_; }
    // The arrays that living instances have made.
    const std::shared_ptr<std::set<const NamedArray*>>& arrays_in_use() const { return arrays_; }

private:
    std::vector<std::filesystem::path> files() const;
    std::shared_ptr<const PluginLibrary> open(const std::filesystem::path&, const std::string& file,
                                              PluginManifest manifest);
    [[noreturn]] void fail_to_find(const PluginOffer& wanted) const;

    std::vector<std::filesystem::path> folders_;
    std::shared_ptr<Cache> cache_;
    Log log_;
    std::map<std::string, std::shared_ptr<const PluginLibrary>> open_;    // by id
    std::vector<std::shared_ptr<const PluginLibrary>> named_;             // the latest first
    std::shared_ptr<std::set<const NamedArray*>> arrays_;
};

}
