#pragma once
#include <exception>
#include <nacelle/plugin/abi.h>
#include <nacelle/plugin/failure_text.h>

namespace nacelle::plugin {

// Runs a call of the host: no exception crosses, its text becomes the reason.
template <class Fn> nacelle_status guarded(const nacelle_host* host, Fn&& fn) noexcept {
    try {
        fn();
        return NACELLE_OK;
    } catch (const std::exception& exception) {
        host->fail(host, failure_text(exception));
    } catch (...) {
        host->fail(host, "unknown exception");
    }
    return NACELLE_ERROR;
}

// An object of the plugin's, made by create() and given back to destroy(); null where it threw.
template <class Object, class... Values>
Object* made(const nacelle_host* host, const Values&... values) noexcept {
    Object* object = nullptr;
    guarded(host, [&] { object = new Object(host, values...); });
    return object;
}

}
