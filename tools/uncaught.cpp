#include "tools/uncaught.h"

#include "engine/base/text.h"

#include <atomic>
#include <cstdlib>
#include <exception>
#include <nacelle/plugin/failure_text.h>
#include <new>
#include <string>
#include <string_view>
#include <unistd.h>

namespace nacelle::tools {
namespace {

std::atomic<bool> out_of_memory = false;

[[noreturn]] void note_memory() {
    out_of_memory = true;
    throw std::bad_alloc();
}

void put(std::string_view text) {
    if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;    // standard error is closed
}

// Prints the first line alone: LibTorch adds a list of addresses.
void tell(const std::exception& failure) {
    const std::string_view text = plugin::failure_text(failure);
    put("nacelle: " + printable(text.substr(0, text.find('\n'))) + "\n");
}

[[noreturn]] void end_by_exception() {
    try {
        if (const std::exception_ptr thrown = std::current_exception())
            std::rethrow_exception(thrown);
        // The text of an exception that leaves a destructor is lost; without an exception it is a crash.
        if (std::uncaught_exceptions() == 0) {
            put("nacelle: std::terminate() was called, and no exception was thrown\n");
            std::abort();
        }
        if (out_of_memory) throw std::bad_alloc();
        put("nacelle: an exception in a destructor, whose text is lost, has ended the process\n");
    } catch (const std::exception& failure) {
        try {
            tell(failure);
        } catch (...) {    // no memory for the text
            put("nacelle: ");
            put(plugin::failure_text(failure));
            put("\n");
        }
    } catch (...) {
        put("nacelle: an exception of an unknown kind has ended the process\n");
    }
    std::_Exit(1);
}

}

void tell_uncaught_exceptions() {
    std::set_terminate(end_by_exception);
    std::set_new_handler(note_memory);
}

}
