#include "tools/interrupt.h"

#include <csignal>

namespace nacelle::tools {
namespace {

volatile std::sig_atomic_t came = 0;

}

void listen_for(std::initializer_list<int> signals) {
    struct sigaction action {};
    action.sa_handler = [](int) { came = 1; };
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    for (const int signal : signals) sigaction(signal, &action, nullptr);
}

bool interrupted() { return came != 0; }

}
