#include "tools/interrupt.h"

#include <csignal>

namespace nacelle::tools {
namespace {

volatile std::sig_atomic_t came = 0;
constexpr int signals[] = {SIGINT, SIGTERM};

void note(int) {
    came = 1;
    for (const int one : signals) std::signal(one, SIG_DFL);
}

}

void listen_for_signals() {
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = SA_RESTART;
    for (const int one : signals) sigaction(one, &action, nullptr);
}

bool interrupted() { return came != 0; }

}
