#include "engine/supervised/child.h"

#include "engine/base/argument_list.h"
#include "engine/base/descriptor.h"
#include "engine/base/error.h"
#include "engine/base/seconds_since.h"
#include "engine/supervised/lines.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

namespace nacelle {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double report_time = 2;           // seconds between SIGUSR1 and SIGKILL
constexpr int childs_descriptor = 3;        // of its end of the channel
constexpr size_t most_printed = 1 << 16;    // of a line without an end, before it counts as one

pid_t start(const std::vector<std::string>& command, int channel, int output) {
    const std::vector<char*> arguments = argument_list(command);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    for (const int printed : {1, 2}) posix_spawn_file_actions_adddup2(&actions, output, printed);
    posix_spawn_file_actions_adddup2(&actions, channel, childs_descriptor);
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

// The child, and the beginnings of its next lines.
class Watch final {
public:
    Watch(pid_t child, int channel, int output, double silence, const ChildFollower& follower)
        : child_(child),
          channel_(channel),
          output_(output),
          follower_(follower),
          silence_(silence),
          heard_(Clock::now()) {}
    // The children of the child die with it, and it is reaped.
    ~Watch() {
        if (!ended_) take_end();
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    // The end of the process counts: a child of its own may hold the descriptors for longer.
    ChildEnd run() {
        int status = 0;
        while (!ended_) {
            if (asked_ ? seconds_since(asked_at_) > report_time
                       : seconds_since(heard_) > silence_) {
                if (asked_) return {ChildEnd::stuck, 0};
                asked_ = true;
                asked_at_ = Clock::now();
                ::kill(child_, SIGUSR1);
            }
            siginfo_t end{};
            if (::waitid(P_PID, id_t(child_), &end, WEXITED | WNOHANG | WNOWAIT) < 0 &&
                errno != EINTR)
                throw Error("process " + std::to_string(child_), "its exit status is lost");
            if (end.si_pid == child_) status = take_end();
            else listen(100);
        }
        while (listen(0)) {}
        print_rest();
        if (asked_) return {ChildEnd::stuck, 0};
        if (WIFSIGNALED(status)) return {ChildEnd::killed_by_signal, WTERMSIG(status)};
        return {ChildEnd::exited, WEXITSTATUS(status)};
    }

private:
    // The process number is reserved until the child is reaped; only until then may kill() use it.
    int take_end() {
        ::kill(-child_, SIGKILL);
        int status = 0;
        while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {}
        ended_ = true;
        return status;
    }
    // Reads what is there; false where nothing was.
    bool listen(int milliseconds) {
        pollfd both[] = {{channel_, POLLIN, 0}, {output_, POLLIN, 0}};
        // A child that has closed both is about to end.
        const bool closed = channel_ < 0 && output_ < 0;
        if (::poll(both, 2, closed ? std::min(milliseconds, 5) : milliseconds) <= 0) return false;
        const bool said = both[0].revents && take(channel_, said_, [this] { hear(); });
        const bool printed = both[1].revents && take(output_, printed_, [this] { print(); });
        return said || printed;
    }
    // Reads what the descriptor holds; a closed one is not read again.
    template <class Then> bool take(int& descriptor, std::string& text, Then&& then) {
        char buffer[65536];
        const ssize_t count = ::read(descriptor, buffer, sizeof buffer);
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) return true;
        if (count <= 0) {
            descriptor = -1;
            return false;
        }
        text.append(buffer, size_t(count));
        then();
        return true;
    }
    void hear() {
        each_line(said_, [&](const std::string& line) {
            silence_ = follower_.said(line);
            heard_ = Clock::now();
        });
    }
    void print() {
        const size_t end = printed_.rfind('\n');
        if (end == printed_.npos && printed_.size() < most_printed) return;
        const size_t whole = end == printed_.npos ? printed_.size() : end + 1;
        if (follower_.printed) follower_.printed(printed_.substr(0, whole));
        printed_.erase(0, whole);
    }
    void print_rest() {
        if (!printed_.empty() && follower_.printed) follower_.printed(printed_ + "\n");
    }

    pid_t child_;
    int channel_, output_;
    const ChildFollower& follower_;
    double silence_;
    Clock::time_point heard_, asked_at_;
    std::string said_, printed_;
    bool asked_ = false, ended_ = false;
};

}

ChildEnd run_child(std::vector<std::string> command, double silence,
                   const ChildFollower& follower) {
    int channel[2], output[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0)
        throw Error("socketpair", std::strerror(errno));
    const Descriptor ours(channel[0]);
    Descriptor theirs(channel[1]);
    if (::pipe2(output, O_CLOEXEC) != 0) throw Error("pipe", std::strerror(errno));
    const Descriptor printed(output[0]);
    Descriptor prints(output[1]);
    command.push_back(std::to_string(childs_descriptor));
    const pid_t child = start(command, theirs.get(), prints.get());
    theirs.close();
    prints.close();
    Watch watch(child, ours.get(), printed.get(), silence, follower);
    if (follower.started) follower.started(child, ours.get());
    return watch.run();
}

}
