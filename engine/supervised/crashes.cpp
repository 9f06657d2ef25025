// Reports where an author's code has ended the process.
#include "engine/base/signal_stack.h"
#include "engine/supervised/parent.h"

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>

namespace nacelle {
namespace {

int report_to = -1;

uintptr_t interrupted_at(const void* context) {
    const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    return uintptr_t(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return uintptr_t(machine.pc);
#else
    (void)machine;
    return 0;
#endif
}

// A path may hold any byte, and a signal handler has no library to escape them.
void write_hex(char* to, size_t room, const char* path) {
    for (; *path && room > 2; ++path, to += 2, room -= 2)
        std::snprintf(to, 3, "%02x", static_cast<unsigned>(static_cast<unsigned char>(*path)));
    *to = 0;
}

// The process is about to end, so that calls that are not async-signal-safe (dladdr, snprintf) can at worst lose this
// line. It begins with a line end, since another line may be half written.
void say_where(int signal, siginfo_t*, void* context) {
    const uintptr_t at = interrupted_at(context);
    Dl_info object{};
    char path[2048] = "", line[2304];
    unsigned long long offset = 0;
    if (::dladdr(reinterpret_cast<void*>(at), &object) && object.dli_fname) {
        write_hex(path, sizeof path, object.dli_fname);
        offset = at - reinterpret_cast<uintptr_t>(object.dli_fbase);
    }
    const int length =
        std::snprintf(line, sizeof line, "\n{\"signal\":%d,\"object\":\"%s\",\"offset\":%llu}\n",
                      signal, path, offset);
    if (length > 0 && ::send(report_to, line, size_t(length), MSG_NOSIGNAL) < 0) ::_exit(126);
    if (signal == SIGUSR1) return;
    ::signal(signal, SIG_DFL);
    ::raise(signal);
}

}

void report_crashes(int channel) {
    report_to = channel;
    ::setenv("NACELLE_REPORT", std::to_string(channel).c_str(), 1);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // Endless recursion leaves no stack to report it on.
    static const SignalStack stack;
    struct sigaction action {};
    action.sa_sigaction = say_where;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGUSR1})
        ::sigaction(signal, &action, nullptr);
}

}
