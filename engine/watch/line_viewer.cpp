#include "engine/watch/line_viewer.h"

#include "engine/watch/board_viewer.h"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace nacelle {

LineViewer::LineViewer(int commands) : commands_(commands) {
    ::fcntl(commands_, F_SETFL, ::fcntl(commands_, F_GETFL) | O_NONBLOCK);
    ::fcntl(commands_, F_SETFD, FD_CLOEXEC);    // compilers have no use for it
}

// An author may print, too: a line begins with a line of its own.
void LineViewer::show(const std::string& section, std::string json) {
    if (section == "picture") wanted_ = false;
    const std::string line = "\n" + section + " " + json + "\n";
    const std::lock_guard lock(mutex_);
    for (size_t at = 0; at < line.size();) {
        const ssize_t count = ::write(STDOUT_FILENO, line.data() + at, line.size() - at);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return;    // nobody is there any more: commands() says so
        at += size_t(count);
    }
}

std::vector<Json> LineViewer::commands() {
    bool closed = false;
    for (char buffer[4096];;) {
        const ssize_t count = ::read(commands_, buffer, sizeof buffer);
        if (count < 0 && errno == EINTR) continue;
        closed = count == 0;
        if (count <= 0) break;
        text_.append(buffer, size_t(count));
    }
    std::vector<Json> found;
    size_t begin = 0;
    for (size_t end; (end = text_.find('\n', begin)) != text_.npos; begin = end + 1) {
        const std::string line = text_.substr(begin, end - begin);
        if (line == "look") wanted_ = true;
        else if (Json command = read_command(line); !command.is_null())
            found.push_back(std::move(command));
    }
    text_.erase(0, begin);
    if (closed) found.push_back({{"do", "quit"}});
    return found;
}

void LineViewer::wait(double seconds) {
    pollfd watched{commands_, POLLIN, 0};
    ::poll(&watched, 1, int(seconds * 1000));
}

}
