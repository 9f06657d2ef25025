#include "engine/supervised/parent.h"

#include "engine/supervised/lines.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

namespace nacelle {

bool send_text(int socket, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        text.remove_prefix(size_t(count));
    }
    return true;
}

Parent::Parent(int channel) : channel_(channel) { ::fcntl(channel_, F_SETFD, FD_CLOEXEC); }

void Parent::say(const std::string& line) {
    const std::lock_guard lock(mutex_);
    send_text(channel_, line + "\n");
}

bool Parent::receive(std::string& text) {
    for (char buffer[4096];;) {
        const ssize_t count = ::recv(channel_, buffer, sizeof buffer, MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) continue;
        if (count == 0) return false;
        if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
        text.append(buffer, size_t(count));
    }
}

void Parent::wait(double seconds) const {
    pollfd watched{channel_, POLLIN, 0};
    ::poll(&watched, 1, int(seconds * 1000));
}

}
