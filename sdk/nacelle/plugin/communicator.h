#pragma once
#include <nacelle/plugin/held.h>
#include <nacelle/plugin/manifest.h>
#include <string>
#include <string_view>

namespace nacelle::plugin {

// Connects the ranks of a run. All but destruction fail by throwing a std::exception.
template <class T>
concept CommunicatorClass = std::constructible_from<T, Host, std::string_view> &&
    requires(T communicator, void* data, uint64_t count, nacelle_dtype dtype,
             nacelle_reduction reduction, void* stream) {
    { T::name } -> std::convertible_to<std::string_view>;
    communicator.all_reduce(data, count, dtype, reduction, stream);
    communicator.broadcast(data, count, uint32_t(0), stream);
};

template <class T>
concept tells_faults = requires(T communicator) {
    { communicator.fault() } -> std::convertible_to<std::string>;
};

// The offer of a class like
//
//     struct Wires {
//         static constexpr const char* name = "wires";
//         Wires(nacelle::plugin::Host host, std::string_view config);    // a JSON object
//         void all_reduce(void* data, uint64_t count, nacelle_dtype dtype, nacelle_reduction, void* stream);
//         void broadcast(void* data, uint64_t bytes, uint32_t from, void* stream);
//         std::string fault();    // may be there: from any thread, why a sum that was begun will not come; else empty
//     };
template <CommunicatorClass T> class Communicator final {
public:
    static constexpr const char* kind = "communicator/1";
    static constexpr const char* name = T::name;
    static const void* table() { return &functions; }

private:
    static void* create(const nacelle_host* host, const char* config) {
        return made<Held<T>>(host, config);
    }
    static nacelle_status all_reduce(void* self, void* data, uint64_t count, uint32_t dtype,
                                     uint32_t reduction, void* stream) {
        auto* const held = static_cast<Held<T>*>(self);
        return guarded(held->host, [&] {
            held->object.all_reduce(data, count, nacelle_dtype(dtype), nacelle_reduction(reduction),
                                    stream);
        });
    }
    static nacelle_status broadcast(void* self, void* data, uint64_t bytes, uint32_t from,
                                    void* stream) {
        auto* const held = static_cast<Held<T>*>(self);
        return guarded(held->host, [&] { held->object.broadcast(data, bytes, from, stream); });
    }
    static nacelle_status fault(void* self, char* text, uint32_t bytes) {
        std::string why;
        try {
            if constexpr (tells_faults<T>) why = static_cast<Held<T>*>(self)->object.fault();
        } catch (const std::exception& failure) {
            why = failure.what();
        }
        if (why.empty()) return NACELLE_OK;
        if (bytes > 0) text[why.copy(text, bytes - 1)] = 0;
        return NACELLE_ERROR;
    }
    static void destroy(void* self) { delete static_cast<Held<T>*>(self); }

    // Hidden, so that no two libraries share one.
    [[gnu::visibility("hidden")]] static constexpr nacelle_communicator functions{
        sizeof(nacelle_communicator),     create, all_reduce, broadcast, destroy,
        tells_faults<T> ? fault : nullptr};
};

}
