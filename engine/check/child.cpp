#include "engine/check/child.h"

#include "engine/base/descriptor.h"
#include "engine/base/error.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nacelle {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double last_words = 2;    // seconds between SIGUSR1 and SIGKILL

pid_t start(const std::vector<std::string>& command, int output) {
    std::vector<char*> arguments;
    for (const std::string& part : command) arguments.push_back(const_cast<char*>(part.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    pid_t child = 0;
    const int code =
        posix_spawn(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (code != 0) throw Error("cannot start '" + command[0] + "'", std::strerror(code));
    return child;
}

// The child, and what it has written so far of its next line.
class Watch final {
public:
    Watch(pid_t child, int pipe, double silence, const LineTaken& taken)
        : child_(child), pipe_(pipe), taken_(taken), silence_(silence), heard_(Clock::now()) {}
    // What the child has started dies with it, and it leaves no entry behind.
    ~Watch() {
        ::kill(-child_, SIGKILL);
        int ignored = 0;
        if (!ended_) ::waitpid(child_, &ignored, 0);
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    ChildEnd run() {
        while (!closed_) {
            if (asked_ ? seconds_since(asked_at_) > last_words : seconds_since(heard_) > silence_) {
                if (asked_) return {ChildEnd::stuck, 0};
                asked_ = true;
                asked_at_ = Clock::now();
                ::kill(child_, SIGUSR1);
            }
            listen(100);
        }
        int status = 0;
        while (::waitpid(child_, &status, 0) < 0)
            if (errno != EINTR) throw Error("check", "the exit status of its process is lost");
        ended_ = true;
        if (asked_) return {ChildEnd::stuck, 0};
        if (WIFSIGNALED(status)) return {ChildEnd::killed_by_signal, WTERMSIG(status)};
        return {ChildEnd::exited, WEXITSTATUS(status)};
    }

private:
    static double seconds_since(Clock::time_point then) {
        return std::chrono::duration<double>(Clock::now() - then).count();
    }
    void listen(int milliseconds) {
        pollfd watched{pipe_, POLLIN, 0};
        if (::poll(&watched, 1, milliseconds) <= 0) return;
        char buffer[65536];
        const ssize_t count = ::read(pipe_, buffer, sizeof buffer);
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
        if (count <= 0) {
            closed_ = true;
            return;
        }
        text_.append(buffer, size_t(count));
        size_t begin = 0;
        for (size_t end; (end = text_.find('\n', begin)) != text_.npos; begin = end + 1) {
            silence_ = taken_(text_.substr(begin, end - begin));
            heard_ = Clock::now();
        }
        text_.erase(0, begin);
    }

    pid_t child_;
    int pipe_;
    const LineTaken& taken_;
    double silence_;
    Clock::time_point heard_, asked_at_;
    std::string text_;
    bool asked_ = false, closed_ = false, ended_ = false;
};

}

ChildEnd run_child(const std::vector<std::string>& command, double silence,
                   const LineTaken& taken) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw Error("pipe", std::strerror(errno));
    const Descriptor output(ends[0]);
    Descriptor input(ends[1]);
    const pid_t child = start(command, input.get());
    input.close();
    return Watch(child, output.get(), silence, taken).run();
}

}
