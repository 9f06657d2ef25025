#pragma once
#include <nacelle/plugin/guard.h>
#include <nacelle/plugin/host.h>
#include <nacelle/plugin/manifest.h>
#include <string_view>

namespace nacelle::plugin {

// Prepares an environment after it was loaded; loaded() fails by throwing a std::exception.
template <class T>
concept HookClass = requires(Host host, std::string_view text) {
    { T::name } -> std::convertible_to<std::string_view>;
    T::loaded(host, text, text);
};

// The offer of a class like
//
//     struct Levels {
//         static constexpr const char* name = "levels";
//         static void loaded(nacelle::plugin::Host host, std::string_view config,
//                            std::string_view folder);
//     };
template <HookClass T> class Hook final {
public:
    static constexpr const char* kind = "hook/1";
    static constexpr const char* name = T::name;
    static const void* table() { return &functions; }

private:
    static nacelle_status loaded(const nacelle_host* host, const char* config, const char* folder) {
        return guarded(host, [&] { T::loaded(Host(host), config, folder); });
    }

    // Hidden, so that no two libraries share one.
    [[gnu::visibility("hidden")]] static constexpr nacelle_hook functions{sizeof(nacelle_hook),
                                                                          loaded};
};

}
