#pragma once
#include "engine/base/shared_library.h"
#include "engine/jit/cache.h"
#include "engine/plugins/manifest.h"

#include <filesystem>
#include <initializer_list>
#include <span>
#include <string_view>

namespace nacelle {

// An open plugin. It is loaded from a copy named by its content: a new file under the old path is another library,
// and overwriting an open file is harmless.
class PluginLibrary final {
public:
    // `file` is the content of `path`, from which the manifest was read.
    PluginLibrary(const std::filesystem::path& path, std::string_view file, PluginManifest manifest,
                  Cache& cache);

    const std::filesystem::path& path() const { return path_; }
    const PluginManifest& manifest() const { return manifest_; }
    const std::string& content() const { return content_; }
    // An offer's table as the plugin has it; throws where it has none.
    const void* offer(const PluginOffer& offer) const;
    // The same in this host's version: entries missing at its end are null. Throws where the table or a
    // needed function is missing.
    struct Needed {
        const char* name;
        size_t at;    // in the table
    };
    template <class Table>
    Table table(const PluginOffer& offer, std::initializer_list<Needed> needed) const {
        Table table{};
        read_table(offer, &table, sizeof table, needed);
        return table;
    }

private:
    void read_table(const PluginOffer& offer, void* table, size_t size,
                    std::span<const Needed> needed) const;

    std::filesystem::path path_;
    PluginManifest manifest_;
    std::string content_;    // a hash
    SharedLibrary library_;
};

// The hash that identifies a content.
std::string content_of(std::string_view file);

}
