#include "tools/interrupt.h"

#include "engine/base/text.h"
#include "tools/crash_watch.h"

#include <csignal>
#include <ctime>
#include <string>
#include <unistd.h>

namespace nacelle::tools {
namespace {

volatile std::sig_atomic_t came = 0, second_of_first = 0;
bool is_told_twice = false;
std::string waits;    // what is said when nobody has asked for a while
constexpr unsigned seconds_before_it_is_said = 2;
// A closing terminal sends SIGHUP.
constexpr int end_signals[] = {SIGINT, SIGTERM, SIGHUP};

// All of it may be called within a handler.
std::sig_atomic_t seconds_now() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::sig_atomic_t(now.tv_sec);
}
void note(int signal) {
    if (!came) {
        came = 1;
        second_of_first = seconds_now();
        if (!waits.empty()) alarm(seconds_before_it_is_said);
        if (!is_told_twice)
            for (const int one : end_signals) std::signal(one, SIG_DFL);
        return;
    }
    if (seconds_now() - second_of_first <= 1) return;
    std::signal(signal, SIG_DFL);
    std::raise(signal);    // once this one has returned
}

void say_waits(int) {
    if (::write(STDERR_FILENO, waits.data(), waits.size()) < 0) return;    // nobody listens
}

// nohup ignores it; that stays.
bool is_ignored(int signal) {
    struct sigaction before {};
    return sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
}

}

void listen_for_signals(bool told_twice, const std::string& waiting) {
    is_told_twice = told_twice;
    // The line about progress may be open.
    waits = waiting.empty() ? "" : (isatty(STDERR_FILENO) ? "\n" : "") + waiting + "\n";
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = SA_RESTART;
    if (!waits.empty()) {
        struct sigaction late = action;
        late.sa_handler = say_waits;
        sigaction(SIGALRM, &late, nullptr);
    }
    for (const int one : end_signals)
        if (!is_ignored(one)) sigaction(one, &action, nullptr);
}

bool interrupted() {
    if (!came) return false;
    if (!waits.empty()) alarm(0);
    return true;
}

std::string waits_for_iteration(const std::filesystem::path& author) {
    return "nacelle: waiting for the end of the iteration that runs, to save a checkpoint; a "
           "second signal ends the process at once. If a function of the environment does not "
           "return, 'nacelle check " +
           shell_word(typed_path(author)) + "' says which";
}

}
