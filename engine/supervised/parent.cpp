#include "engine/supervised/parent.h"

#include "engine/base/process.h"
#include "engine/supervised/lines.h"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

namespace nacelle {

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
