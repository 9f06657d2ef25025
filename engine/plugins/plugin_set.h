#pragma once
#include "engine/base/log.h"
#include "engine/plugins/library.h"

#include <map>
#include <memory>
#include <optional>
#include <set>

namespace nacelle {

class NamedArray;

// A file of the search folders: its manifest, or why it cannot be opened.
struct PluginFile {
    std::filesystem::path path;
    std::optional<PluginManifest> manifest;
    std::string refused;    // empty where there is a manifest
};

// The available plugins: the .so files of some folders, and those that were loaded by path. The latter take
// precedence, and an earlier folder precedes a later one.
class Plugins final {
public:
    Plugins(std::vector<std::filesystem::path> folders, std::shared_ptr<Cache> cache,
            Log log = Log());

    // Every candidate; opens no library.
    std::vector<PluginFile> list() const;
    // Opens the file now, in place of an earlier plugin of the same id, whose instances keep their library.
    const PluginManifest& load(const std::filesystem::path& path);
    // The plugin with this offer, opened if necessary, and again if the file was replaced. Throws with the
    // alternatives.
    std::shared_ptr<const PluginLibrary> find(const PluginOffer& wanted);

    const Log& log() const { return log_; }
    const std::vector<std::filesystem::path>& folders() const { return folders_; }
    // The arrays that live instances have created.
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
