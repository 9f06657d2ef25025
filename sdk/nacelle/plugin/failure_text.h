#pragma once
#include <exception>
#include <new>
#include <system_error>

namespace nacelle::plugin {

// The reason of a failure: the exception's text, or a clear sentence for a lack of memory or threads. The text lives as
// long as the exception. Allocates nothing.
inline const char* failure_text(const std::exception& failure) noexcept {
    if (dynamic_cast<const std::bad_alloc*>(&failure))
        return "there is not enough memory (end other programs, raise the memory limit, or take "
               "fewer environments or smaller networks)";
    const auto* const refused = dynamic_cast<const std::system_error*>(&failure);
    if (refused && refused->code() == std::errc::resource_unavailable_try_again)
        return "the system starts no more threads (end other programs, raise the limit of "
               "'ulimit -u', or set a lower --threads)";
    return failure.what();
}

}
