#include "engine/plugins/manifest.h"

#include "engine/base/elf.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <nacelle/plugin/abi.h>

namespace nacelle {
namespace {

using Bytes = std::span<const std::byte>;

#if defined(__x86_64__)
constexpr int own_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr int own_machine = EM_AARCH64;
#else
constexpr int own_machine = EM_NONE;
#endif

// The loader would refuse these files only when it opens them.
void require_library(Bytes file, const std::string& what) {
    Elf64_Ehdr header{};
    if (file.size() < SELFMAG || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0)
        throw Error(what, "is no shared library");
    std::memcpy(&header, file.data(), std::min(file.size(), sizeof header));
    if (file.size() < sizeof header) throw Error(what, "is cut short");
    if (header.e_type != ET_DYN) throw Error(what, "is no shared library");
    if (own_machine != EM_NONE && header.e_machine != own_machine)
        throw Error(what, "is built for another kind of processor");
}

template <size_t size>
std::string text_of(const char (&text)[size], const char* member, const std::string& what) {
    const char* const end = std::find(text, text + size, '\0');
    if (end == text + size)
        throw Error(what, std::string("its manifest's ") + member + " has no end within " +
                              std::to_string(size) + " characters");
    std::string found{text, end};
    // Terminals list it, and obey control characters.
    if (!is_printable_line(found))
        throw Error(what,
                    std::string("its manifest's ") + member +
                        " has bytes that are no UTF-8, or control characters",
                    "one line of text");
    return found;
}

nacelle_manifest raw_manifest(Bytes file, const std::string& what) {
    const auto bytes = elf_symbol(file, "nacelle_plugin", what);
    if (!bytes) throw Error(what, "is no plugin: it has no symbol nacelle_plugin");
    nacelle_manifest raw{};
    constexpr size_t leading = offsetof(nacelle_manifest, id);
    if (bytes->size() < leading) throw Error(what, "its manifest is cut short");
    std::memcpy(&raw, bytes->data(), leading);
    if (std::memcmp(raw.magic, NACELLE_PLUGIN_MAGIC, sizeof raw.magic) != 0)
        throw Error(what, "its manifest does not begin as one");
    if (raw.abi != NACELLE_ABI)
        throw Error(what,
                    "is built for version " + std::to_string(raw.abi) +
                        " of the plugins' boundary, and this host speaks version " +
                        std::to_string(NACELLE_ABI) +
                        ": compile it again with the headers of this nacelle, its folder sdk/");
    if (raw.size < offsetof(nacelle_manifest, offer) || bytes->size() < raw.size)
        throw Error(what, "its manifest is cut short");
    std::memcpy(&raw, bytes->data(), std::min(sizeof raw, size_t{raw.size}));
    return raw;
}

}

bool PluginManifest::offers_one(const PluginOffer& wanted) const {
    return std::find(offers.begin(), offers.end(), wanted) != offers.end();
}

PluginManifest read_manifest(Bytes file, const std::string& what) {
    require_library(file, what);
    const nacelle_manifest raw = raw_manifest(file, what);
    PluginManifest manifest{.id = text_of(raw.id, "id", what),
                            .version = text_of(raw.version, "version", what),
                            .description = text_of(raw.description, "description", what),
                            .offers = {}};
    if (manifest.id.empty()) throw Error(what, "its manifest has no id");
    const size_t room =
        std::min(std::size(raw.offer),
                 (raw.size - offsetof(nacelle_manifest, offer)) / sizeof(nacelle_offer));
    if (raw.offers > room)
        throw Error(what, "its manifest names " + std::to_string(raw.offers) +
                              " offers and has room for " + std::to_string(room));
    for (const nacelle_offer& offer : std::span(raw.offer, raw.offers))
        manifest.offers.push_back({text_of(offer.kind, "kind of an offer", what),
                                   text_of(offer.name, "name of an offer", what)});
    return manifest;
}

}
