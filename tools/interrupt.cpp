#include "tools/interrupt.h"

#include <csignal>
#include <ctime>

namespace nacelle::tools {
namespace {

volatile std::sig_atomic_t came = 0, second_of_first = 0;
bool is_told_twice = false;
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
        if (!is_told_twice)
            for (const int one : end_signals) std::signal(one, SIG_DFL);
        return;
    }
    if (seconds_now() - second_of_first <= 1) return;
    std::signal(signal, SIG_DFL);
    std::raise(signal);    // once this one has returned
}

// nohup ignores it; that stays.
bool is_ignored(int signal) {
    struct sigaction before {};
    return sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
}

}

void listen_for_signals(bool told_twice) {
    is_told_twice = told_twice;
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = SA_RESTART;
    for (const int one : end_signals)
        if (!is_ignored(one)) sigaction(one, &action, nullptr);
}

bool interrupted() { return came != 0; }

}
