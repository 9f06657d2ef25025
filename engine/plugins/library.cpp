#include "engine/plugins/library.h"

#include "engine/base/error.h"
#include "engine/base/hash.h"

#include <cstring>
#include <nacelle/plugin/abi.h>

namespace nacelle {
namespace {

SharedLibrary opened(const std::filesystem::path& path, std::string_view file, Cache& cache) {
    try {
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

const void* PluginLibrary::checked(const PluginOffer& offer, size_t size) const {
    const std::string what = "its table of " + offer.kind + " '" + offer.name + "' ";
    const auto fail = [&](const std::string& why) { throw Error(path_.filename(), what + why); };
    auto* const get =
        library_.function<const void*(const char*, const char*)>("nacelle_plugin_get");
    const void* const table = get(offer.kind.c_str(), offer.name.c_str());
    if (!table) fail("is missing, though the manifest names it");
    uint32_t its_size = 0;
    std::memcpy(&its_size, table, sizeof its_size);
    if (its_size < size)
        fail("has " + std::to_string(its_size) + " bytes; this host needs " + std::to_string(size));
    // Behind the size come functions only.
    for (size_t at = sizeof(void*); at < size; at += sizeof(void*)) {
        void* function = nullptr;
        std::memcpy(&function, static_cast<const std::byte*>(table) + at, sizeof function);
        if (!function) fail("has a function that is null");
    }
    return table;
}

}
