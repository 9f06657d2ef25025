#include "engine/plugins/library.h"

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/plugins/libtorch.h"

#include <algorithm>
#include <cstring>
#include <nacelle/plugin/abi.h>

namespace nacelle {
namespace {

SharedLibrary opened(const std::filesystem::path& path, std::string_view file, Cache& cache) {
    try {
        open_libtorch_for(std::as_bytes(std::span(file)));
        return SharedLibrary(cache.materialise("plugin-" + path.filename().string(), file));
    } catch (const Error& error) {
        throw Error(path.filename(), error.reason());    // the copy's name says nothing to a user
    }
}

}

std::string content_of(std::string_view file) { return Hash().add(file).hex(); }

PluginLibrary::PluginLibrary(const std::filesystem::path& path, std::string_view file,
                             PluginManifest manifest, Cache& cache)
    : path_(path),
      manifest_(std::move(manifest)),
      content_(content_of(file)),
      library_(opened(path, file, cache)) {
    if (!library_.find("nacelle_plugin_get"))
        throw Error(path_.filename(), "has no function nacelle_plugin_get");
}

const void* PluginLibrary::offer(const PluginOffer& offer) const {
    auto* const get =
        library_.function<const void*(const char*, const char*)>("nacelle_plugin_get");
    const void* const its = get(offer.kind.c_str(), offer.name.c_str());
    if (!its)
        throw Error(path_.filename(), "its table of " + offer.kind + " '" + offer.name +
                                          "' is missing, though the manifest names it");
    return its;
}

void PluginLibrary::read_table(const PluginOffer& offer, void* table, size_t size,
                               std::span<const Needed> needed) const {
    const void* const its = this->offer(offer);
    uint32_t its_size = 0;
    std::memcpy(&its_size, its, sizeof its_size);
    // After the size the table has only functions.
    std::memcpy(table, its, std::min(size, its_size / sizeof(void*) * sizeof(void*)));
    for (const auto& [name, at] : needed) {
        void* function = nullptr;
        std::memcpy(&function, static_cast<const std::byte*>(table) + at, sizeof function);
        if (!function)
            throw Error(path_.filename(), "its table of " + offer.kind + " '" + offer.name +
                                              "' has no function " + name + "()");
    }
}

}
