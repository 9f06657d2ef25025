#include "tools/drawing_guard.h"

#include "engine/base/text.h"

#include <cstring>
#include <string>

#include <unistd.h>

namespace nacelle::tools {
namespace {

// A bounds check of the compiler raises SIGILL or SIGTRAP, one of the standard library SIGABRT.
constexpr int crash_signals[] = {SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT};

char sentence[1024];    // a handler may not make one

void say_and_end(int) {
    if (::write(STDERR_FILENO, sentence, std::strlen(sentence)) < 0) ::_exit(1);
    ::_exit(1);
}

}

DrawingGuard::DrawingGuard(const std::filesystem::path& recording) {
    const std::string text =
        printable(recording.string()).substr(0, sizeof sentence / 2) +
        ": draw() read outside its arrays, or did what ends a program (it was not written for the "
        "numbers that are recorded)\n";
    text.copy(sentence, sizeof sentence - 1);
    sentence[text.size()] = 0;
    struct sigaction action {};
    action.sa_handler = say_and_end;
    action.sa_flags = SA_ONSTACK | SA_RESETHAND;
    for (const int one : crash_signals) ::sigaction(one, &action, &before_.emplace_back());
}

DrawingGuard::~DrawingGuard() {
    for (size_t i = 0; i < before_.size(); ++i) ::sigaction(crash_signals[i], &before_[i], nullptr);
}

}
