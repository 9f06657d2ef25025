#pragma once
#include <concepts>
#include <cstddef>
#include <nacelle/plugin/abi.h>
#include <string_view>

namespace nacelle::plugin {

// One of Sink<T>, Hook<T>, Learner<T>: its kind, its name, and the table that the host calls.
template <class T>
concept Offer = requires {
    { T::kind } -> std::convertible_to<std::string_view>;
    { T::name } -> std::convertible_to<std::string_view>;
    { T::table() } -> std::same_as<const void*>;
};

// Copies a text of the manifest; one that does not fit its place does not compile.
template <size_t size> constexpr void write_text(char (&target)[size], std::string_view text) {
    if (text.size() >= size) throw "a text of the plugin's manifest is too long";
    for (size_t i = 0; i < text.size(); ++i) target[i] = text[i];
}

template <Offer... Offers>
consteval nacelle_manifest manifest(std::string_view id, std::string_view version,
                                    std::string_view description) {
    static_assert(sizeof...(Offers) > 0 && sizeof...(Offers) <= 16,
                  "a plugin offers 1 to 16 things");
    if (id.empty()) throw "a plugin needs an id";
    nacelle_manifest made{};
    write_text(made.magic, NACELLE_PLUGIN_MAGIC);
    made.size = sizeof made;
    made.abi = NACELLE_ABI;
    write_text(made.id, id);
    write_text(made.version, version);
    write_text(made.description, description);
    const auto add = [&](std::string_view kind, std::string_view name) {
        write_text(made.offer[made.offers].kind, kind);
        write_text(made.offer[made.offers].name, name);
        ++made.offers;
    };
    (add(Offers::kind, Offers::name), ...);
    return made;
}

template <Offer... Offers> const void* find(std::string_view kind, std::string_view name) {
    const void* found = nullptr;
    const auto look = [&](std::string_view its_kind, std::string_view its_name, const void* table) {
        if (!found && kind == its_kind && name == its_name) found = table;
    };
    (look(Offers::kind, Offers::name, Offers::table()), ...);
    return found;
}

}

// Once in a plugin: its id, version, description, then what it offers.
//
//     NACELLE_PLUGIN("nacelle.csv", "1.0.0", "Metrics as a table", nacelle::plugin::Sink<CsvSink>)
#define NACELLE_PLUGIN(id, version, description, ...)                                              \
    extern "C" constinit const nacelle_manifest nacelle_plugin =                                   \
        nacelle::plugin::manifest<__VA_ARGS__>(id, version, description);                          \
    extern "C" const void* nacelle_plugin_get(const char* kind, const char* name) {                \
        return nacelle::plugin::find<__VA_ARGS__>(kind, name);                                     \
    }
