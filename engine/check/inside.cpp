#include "engine/check/inside.h"

#include "engine/base/error.h"
#include "engine/check/checks.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <dlfcn.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unistd.h>

namespace nacelle {
namespace {

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

// The process is about to end, so that what is not allowed in a handler elsewhere (dladdr,
// snprintf) can at worst lose this line.
void say_where(int signal, siginfo_t*, void* context) {
    const uintptr_t at = interrupted_at(context);
    Dl_info object{};
    char line[768];
    int length = 0;
    if (::dladdr(reinterpret_cast<void*>(at), &object) && object.dli_fname)
        length = std::snprintf(
            line, sizeof line, "\n{\"signal\": %d, \"object\": \"%s\", \"offset\": %llu}\n", signal,
            object.dli_fname,
            static_cast<unsigned long long>(at - reinterpret_cast<uintptr_t>(object.dli_fbase)));
    else length = std::snprintf(line, sizeof line, "\n{\"signal\": %d}\n", signal);
    if (length > 0 && ::write(STDOUT_FILENO, line, size_t(length)) < 0) ::_exit(126);
    if (signal == SIGUSR1) return;
    ::signal(signal, SIG_DFL);
    ::raise(signal);
}

Finding run_one(const Check& check, Session& session) {
    try {
        return check.run(session);
    } catch (const Error& error) {
        // What the configuration says wrong is no fault of the environment.
        if (error.where() == session.subject().settings.where && error.reason().starts_with("env."))
            throw;
        return refused(error.what(), {});
    }
}

// Whether a check was asked for. All are where none is named; the first always is, since the others
// need to know what the environment holds.
bool is_wanted(const std::vector<std::string>& only, const Check& check) {
    return only.empty() || &check == &all_checks().front() ||
           std::find(only.begin(), only.end(), check.name) != only.end();
}

}

void report_crashes() {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // Endless recursion leaves no stack to report it on.
    static char stack[65536];
    const stack_t own{.ss_sp = stack, .ss_flags = 0, .ss_size = sizeof stack};
    ::sigaltstack(&own, nullptr);
    struct sigaction action {};
    action.sa_sigaction = say_where;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGUSR1})
        ::sigaction(signal, &action, nullptr);
}

void run_checks(Subject subject, const std::vector<std::string>& only, const Tell& tell) {
    Session session(std::move(subject), tell);
    bool sound = true;
    int left = 0;
    for (const Check& check : all_checks()) {
        if (!is_wanted(only, check)) continue;
        if (!sound && !check.basis) {
            ++left;
            continue;
        }
        session.begin(check.name);
        Finding finding = run_one(check, session);
        finding.check = check.name;
        tell({{"finding", as_json(finding)}});
        if (finding.verdict != Verdict::refused) continue;
        // Without a build that loads there is nothing for the others to look at.
        if (!session.knows_schema()) return;
        sound &= !check.basis;
    }
    if (!left) return;
    Finding rest = skipped(std::to_string(left) + " checks compare runs and wait for the above");
    rest.check = "the rest";
    tell({{"finding", as_json(rest)}});
}

}
