#include "tools/terminal_line.h"

#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

namespace nacelle::tools {
namespace {

constexpr std::chrono::seconds between_terminal_lines{5};    // where standard output is no terminal

// The width of the terminal, since a wrapped line could not be rewritten; 0 where it is unknown.
size_t terminal_width() {
    winsize size{};
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}

TerminalLine::TerminalLine(bool shown, std::string heading)
    : shown_(shown), terminal_(isatty(STDOUT_FILENO)), heading_(std::move(heading)) {
    if (terminal_) say_heading();
}

void TerminalLine::say_heading() {
    if (shown_ && !heading_.empty()) std::printf("%s\n", heading_.c_str());
    heading_.clear();
}

void TerminalLine::show(const std::string& text) {
    if (!shown_) return;
    const auto now = std::chrono::steady_clock::now();
    if (terminal_) {
        const size_t width = terminal_width();
        std::printf("\r\033[K%s", (width > 0 ? text.substr(0, width - 1) : text).c_str());
        open_ = true;
    } else {
        if (now - said_ < between_terminal_lines) return;
        said_ = now;
        say_heading();
        std::printf("%s\n", text.c_str());
    }
    std::fflush(stdout);
}

void TerminalLine::end() {
    if (open_) std::printf("\n");
    open_ = false;
}

}
