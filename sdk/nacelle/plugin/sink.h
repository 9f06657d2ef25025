#pragma once
#include <nacelle/plugin/held.h>
#include <nacelle/plugin/manifest.h>
#include <span>
#include <string_view>

namespace nacelle::plugin {

// Where metrics go. A constructor, write() and flush() fail by throwing a std::exception.
template <class T>
concept SinkClass = std::constructible_from<T, Host, std::string_view> &&
    requires(T sink, uint64_t step, std::span<const char* const> names,
             std::span<const double> values) {
    { T::name } -> std::convertible_to<std::string_view>;
    sink.write(step, names, values);
    sink.flush();
};

// The offer of a class like
//
//     struct Lines {
//         static constexpr const char* name = "lines";
//         Lines(nacelle::plugin::Host host, std::string_view config);    // a JSON object
//         void write(uint64_t step, std::span<const char* const> names,
//                    std::span<const double> values);
//         void flush();
//         void rewind(uint64_t step);    // where it is there: a run goes on from this step, and will write
//     };                                 // again what was written for later ones
template <SinkClass T> class Sink final {
public:
    static constexpr const char* kind = "sink/1";
    static constexpr const char* name = T::name;
    static const void* table() { return &functions; }

private:
    static void* create(const nacelle_host* host, const char* config) {
        return made<Held<T>>(host, config);
    }
    static nacelle_status write(void* self, uint64_t step, const char* const* names,
                                const double* values, uint32_t count) {
        auto* const held = static_cast<Held<T>*>(self);
        return guarded(held->host, [&] {
            held->object.write(step, std::span(names, count), std::span(values, count));
        });
    }
    static nacelle_status flush(void* self) {
        auto* const held = static_cast<Held<T>*>(self);
        return guarded(held->host, [&] { held->object.flush(); });
    }
    static void destroy(void* self) { delete static_cast<Held<T>*>(self); }
    static nacelle_status rewind(void* self, [[maybe_unused]] uint64_t step) {
        auto* const held = static_cast<Held<T>*>(self);
        return guarded(held->host, [&] {
            if constexpr (requires { held->object.rewind(step); }) held->object.rewind(step);
        });
    }

    // Hidden, so that no two libraries share one.
    [[gnu::visibility("hidden")]] static constexpr nacelle_sink functions{
        sizeof(nacelle_sink), create, write, flush, destroy, rewind};
};

}
