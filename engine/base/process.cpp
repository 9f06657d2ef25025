#include "engine/base/process.h"

#include "engine/base/argument_list.h"
#include "engine/base/descriptor.h"
#include "engine/base/error.h"
#include "engine/base/guarded.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>

namespace nacelle {
namespace {

constexpr int poll_milliseconds = 10;
constexpr size_t most_output = size_t(64) << 20;    // what comes behind it is lost

// The attributes of a child: its own process group, so that its children die with it, and default signal masks and
// handlers.
class SpawnSettings final {
public:
    SpawnSettings() {
        posix_spawn_file_actions_init(&actions);
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                  POSIX_SPAWN_SETSIGDEF);
    }
    ~SpawnSettings() {
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
    }
    SpawnSettings(const SpawnSettings&) = delete;
    SpawnSettings& operator=(const SpawnSettings&) = delete;

    posix_spawn_file_actions_t actions{};
    posix_spawnattr_t attributes{};
};

[[noreturn]] void cannot_start(const std::string& name, int code) {
    const bool path_given = name.find('/') != std::string::npos;
    const bool found = !find_program(name).empty();
    std::string why = std::generic_category().message(code);
    if ((code == ENOENT || code == EACCES) && !found && !path_given) why = "not found on PATH";
    if (code == ENOENT && !found && path_given) why = "no such file";
    if (code == ENOENT && found) why = "the interpreter in its first line does not exist";
    if (code == EACCES && path_given) why = "not an executable file";
    if (code == ENOEXEC) why = "not a program for this machine";
    if (code == EAGAIN)
        why = "the system starts no more processes here ('ulimit -u' shows the limit)";
    if (code == ENOMEM) why = "there is not enough memory for one more process";
    throw Error("cannot start '" + name + "'", why);
}

// Reads what the pipe holds now; false once its writers have closed it. Reads at most the capacity of a pipe (1 MiB),
// so that endless output cannot delay `cancel`.
bool read_available(int pipe, std::string& output) {
    std::array<char, 65536> buffer;
    for (int chunk = 0; chunk < 16; ++chunk) {
        const ssize_t count = ::read(pipe, buffer.data(), buffer.size());
        if (count == 0) return false;
        if (count < 0) return errno == EAGAIN || errno == EINTR;
        const size_t room = most_output - std::min(most_output, output.size());
        output.append(buffer.data(), std::min(room, static_cast<size_t>(count)));
    }
    return true;
}

// The end of the pipe is not the end of the program: it may close its output early, and a background child may hold
// the pipe open for hours. Both are watched.
ProcessResult watch(pid_t guard, int pipe, const std::atomic<bool>* cancel) {
    ProcessResult result;
    bool open = true;
    int status = 0;
    for (;;) {
        if (cancel && cancel->load() && !result.cancelled) {
            end_guarded(guard);
            result.cancelled = true;
        }
        pollfd watched{open ? pipe : -1, POLLIN, 0};
        ::poll(&watched, 1, poll_milliseconds);
        const pid_t ended = ::waitpid(guard, &status, WNOHANG);
        if (ended < 0 && errno != EINTR) {
            throw Error("process " + std::to_string(guard),
                        "its exit status was taken by another part of this program");
        }
        if (open) open = read_available(pipe, result.output);
        if (ended == guard) break;
    }
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result;
}

// A program under its guard, and the end of the pipe that has its outputs.
struct Started {
    pid_t guard;
    Descriptor output;
};

Started start(const std::vector<std::string>& command, const std::string& work_folder, int input) {
    if (command.empty() || command[0].empty()) throw Error("cannot start ''", "no program named");
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) cannot_start(command[0], errno);
    Descriptor ours(ends[0]);
    const Descriptor theirs(ends[1]);
    ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);

    const std::string found = find_program(command[0]);
    const bool path_given = command[0].find('/') != std::string::npos;
    if (found.empty() && !path_given) cannot_start(command[0], ENOENT);
    const pid_t guard = start_guarded(found.empty() ? command[0] : found, command, theirs.get(),
                                      work_folder, input);
    if (guard < 0) cannot_start(command[0], -guard);
    return {guard, std::move(ours)};
}

// Writes to a socket, and reads meanwhile what the program says: one that nobody listens to would wait for ever.
bool feed(int socket, std::string_view bytes, int pipe, std::string& said) {
    while (!bytes.empty()) {
        std::array<pollfd, 2> watched{{{socket, POLLOUT, 0}, {pipe, POLLIN, 0}}};
        if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return false;
        if (watched[1].revents && !read_available(pipe, said)) pipe = -1;
        if (!watched[0].revents) continue;
        const ssize_t count =
            ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (count <= 0) return false;
        bytes.remove_prefix(size_t(count));
    }
    return true;
}

bool is_program(const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

}

pid_t start_process(const std::vector<std::string>& command, int input) {
    SpawnSettings settings;
    posix_spawn_file_actions_adddup2(&settings.actions, input, 0);
    for (const int output : {1, 2})
        posix_spawn_file_actions_addopen(&settings.actions, output, "/dev/null", O_WRONLY, 0);
    const std::vector<char*> arguments = argument_list(command);
    pid_t child = 0;
    const int code = posix_spawnp(&child, arguments[0], &settings.actions, &settings.attributes,
                                  arguments.data(), environ);
    return code ? -1 : child;
}

ProcessResult run_process(const std::vector<std::string>& command, const std::atomic<bool>* cancel,
                          const std::string& work_folder) {
    const Started program = start(command, work_folder, -1);
    return watch(program.guard, program.output.get(), cancel);
}

ProcessResult run_fed_process(const std::vector<std::string>& command,
                              const std::function<void(const Feed&)>& write,
                              const std::string& work_folder) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw Error("cannot start a program", std::generic_category().message(errno));
    Descriptor ours(ends[0]), theirs(ends[1]);
    const Started program = start(command, work_folder, theirs.get());
    theirs.close();
    const int pipe = program.output.get();
    std::string said;
    try {
        write([&](std::string_view bytes) { return feed(ours.get(), bytes, pipe, said); });
    } catch (...) {
        end_guarded(program.guard);
        watch(program.guard, pipe, nullptr);
        throw;
    }
    ours.close();
    ProcessResult result = watch(program.guard, pipe, nullptr);
    result.output.insert(0, said);
    return result;
}

std::string find_program(const std::string& name) {
    if (name.empty()) return {};
    if (name.find('/') != std::string::npos) {
        return is_program(name) ? std::filesystem::absolute(name).string() : std::string();
    }
    const char* variable = std::getenv("PATH");
    const std::string path = variable ? variable : "/bin:/usr/bin";
    for (size_t start = 0; start <= path.size();) {
        const size_t end = std::min(path.find(':', start), path.size());
        // An empty part of PATH is the current directory.
        const std::filesystem::path folder = end == start ? "." : path.substr(start, end - start);
        if (is_program(folder / name)) return std::filesystem::absolute(folder / name).string();
        start = end + 1;
    }
    return {};
}

bool send_text(int socket, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        text.remove_prefix(size_t(count));
    }
    return true;
}

}
