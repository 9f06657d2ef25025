#include "tools/interrupt.h"

#include <csignal>

namespace nacelle::tools {
namespace {

volatile std::sig_atomic_t came = 0;
// A closing terminal sends SIGHUP.
constexpr int end_signals[] = {SIGINT, SIGTERM, SIGHUP};

void note(int) {
    came = 1;
    for (const int one : end_signals) std::signal(one, SIG_DFL);
}

// nohup ignores it; that stays.
bool is_ignored(int signal) {
    struct sigaction before {};
    return sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
}

}

void listen_for_signals() {
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = SA_RESTART;
    for (const int one : end_signals)
        if (!is_ignored(one)) sigaction(one, &action, nullptr);
}

bool interrupted() { return came != 0; }

}
