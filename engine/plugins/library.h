#pragma once
#include "engine/base/shared_library.h"
#include "engine/jit/cache.h"
#include "engine/plugins/manifest.h"

#include <filesystem>
#include <string_view>

namespace nacelle {

// An opened plugin. What is opened is a copy named by its content: a new file under the old path is
// another library, and a file that is overwritten while it is open harms nobody.
class PluginLibrary final {
public:
    // `file` is the content of `path`, of which the manifest was read.
    PluginLibrary(const std::filesystem::path& path, std::string_view file, PluginManifest manifest,
                  Cache& cache);

    const std::filesystem::path& path() const { return path_; }
    const PluginManifest& manifest() const { return manifest_; }
    const std::string& content() const { return content_; }
    // The table of an offer, for a kind whose table is a Table; throws where it is missing, shorter
    // than this host's, or has a hole.
    template <class Table> const Table& table(const PluginOffer& offer) const {
        return *static_cast<const Table*>(checked(offer, sizeof(Table)));
    }

private:
    const void* checked(const PluginOffer& offer, size_t size) const;

    std::filesystem::path path_;
    PluginManifest manifest_;
    std::string content_;    // a hash
    SharedLibrary library_;
};

// The hash by which two contents are told apart.
std::string content_of(std::string_view file);

}
