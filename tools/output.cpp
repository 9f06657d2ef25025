#include "tools/output.h"

#include "engine/device/cpu/cpu_device.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <iostream>
#include <unistd.h>

namespace nacelle::tools {
namespace {

int failure = 0;         // errno of the first line that could not be written
bool watched = false;    // whether exit() would be an author's

void say_who_exits() {
    if (!watched) return;
    static std::atomic_flag said;
    while (said.test_and_set()) ::pause();    // another thread says it, and ends the process
    constexpr std::string_view words =
        "nacelle: the environment's code, or a plugin's, has called exit(), which it must not: "
        "what was to come behind it was not done\n";
    if (::write(STDERR_FILENO, words.data(), words.size()) < 0) ::_exit(1);
    ::_exit(1);
}

}

}

// What an author's code calls, since a program's own symbols come first. Handlers that are run by several threads at once
// are taken twice from the C library's list: where one of them returns, its memory is freed twice.
extern "C" __attribute__((noreturn, visibility("default"))) void exit(int status) noexcept {
    nacelle::tools::say_who_exits();    // does not return where an author's code is watched
    void* const next = ::dlsym(RTLD_NEXT, "exit");
    if (next) reinterpret_cast<void (*)(int)>(next)(status);
    ::_exit(status);
}

namespace nacelle::tools {

void reserve_standard_streams() {
    for (int number = 0; number <= STDERR_FILENO; ++number)
        if (::fcntl(number, F_GETFD) < 0 && errno == EBADF) ::open("/dev/null", O_RDWR);
    for (const int number : {SIGPIPE, SIGXFSZ}) std::signal(number, SIG_IGN);
}

void print_json(const Json& line) {
    std::cout.flush();
    const std::string text = json_line(line);
    const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if ((!whole || std::fflush(stdout) != 0) && !failure) failure = errno;
}

bool output_failed() {
    if (!failure && (std::ferror(stdout) || !std::cout)) failure = errno ? errno : EIO;
    return failure != 0;
}

bool finish_output() {
    errno = 0;
    std::cout.flush();
    if (std::fflush(stdout) != 0 && !failure) failure = errno;
    if (!output_failed()) return true;
    // A closed pipe is normal (head, less) and needs no message.
    if (failure != EPIPE)
        std::cerr << "nacelle: standard output cannot be written: " << std::strerror(failure)
                  << "\n";
    return false;
}

ExitWatch::ExitWatch() {
    // Each thread that calls exit() takes the next entry of the list without waiting for the one before: with fewer
    // entries than threads the last one would end the process silently with its own status.
    static const bool once = [] {
        int left = most_threads + 1;
        while (left && std::atexit(say_who_exits) == 0) --left;
        return left == 0;
    }();
    watched = once;
}
ExitWatch::~ExitWatch() { watched = false; }

}
