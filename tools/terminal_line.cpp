#include "tools/terminal_line.h"

#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

namespace nacelle::tools {
namespace {

// The width of the terminal, since a wrapped line could not be rewritten; 0 where it is unknown.
size_t terminal_width() {
    winsize size{};
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}

void TerminalLine::show(const std::string& text) {
    if (!shown_) return;
    const size_t width = terminal_width();
    std::printf("\r\033[K%s", (width > 0 ? text.substr(0, width - 1) : text).c_str());
    std::fflush(stdout);
    open_ = true;
}

void TerminalLine::end() {
    if (open_) std::printf("\n");
    open_ = false;
}

}
