#include "engine/jit/compile_helpers.h"

#include "engine/base/process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

namespace nacelle {
namespace {

constexpr int idle_milliseconds = 60'000, look_milliseconds = 20;
constexpr uint64_t most_bytes = 1 << 28;

// Whole or not at all; a closed other end is no signal.
bool send_all(int socket, const void* data, size_t size) {
    const char* at = static_cast<const char*>(data);
    while (size > 0) {
        const ssize_t sent = ::send(socket, at, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        at += sent;
        size -= size_t(sent);
    }
    return true;
}
bool receive_all(int socket, void* data, size_t size) {
    char* at = static_cast<char*>(data);
    while (size > 0) {
        const ssize_t got = ::recv(socket, at, size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        size -= size_t(got);
    }
    return true;
}
// Whether there is something to read, or an end, before the time is over.
bool readable(int socket, int milliseconds) {
    pollfd one{socket, POLLIN, 0};
    return ::poll(&one, 1, milliseconds) > 0;
}

}

CompileHelpers::~CompileHelpers() {
    for (const auto& helper : helpers_) end(*helper);
}

void CompileHelpers::end(Helper& helper) {
    ::kill(helper.process, SIGKILL);
    while (::waitpid(helper.process, nullptr, 0) < 0 && errno == EINTR) {}
    helper.socket.close();
}

std::optional<CompileHelpers::Helper> CompileHelpers::started() const {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return std::nullopt;
    Descriptor ours(pair[0]);
    const Descriptor theirs(pair[1]);
    const pid_t process = start_process(command_, theirs.get());
    if (process < 0) return std::nullopt;
    return Helper{process, std::move(ours)};
}

void CompileHelpers::start() {
    const std::lock_guard hold(lock_);
    // One that has had nothing to do for long has ended, and so may one that the system ended.
    std::erase_if(helpers_, [](const std::unique_ptr<Helper>& helper) {
        if (helper->busy || !readable(helper->socket.get(), 0)) return false;
        end(*helper);
        return true;
    });
    while (helpers_.size() < count_) {
        std::optional<Helper> helper = started();
        if (!helper) return;
        helpers_.push_back(std::make_unique<Helper>(*std::move(helper)));
    }
}

void CompileHelpers::compile(const ProgramSource& source, const std::atomic<bool>* cancel) {
    Helper* mine = nullptr;
    {
        const std::lock_guard hold(lock_);
        for (const auto& helper : helpers_)
            if (!helper->busy) mine = helper.get();
        if (!mine) return;
        mine->busy = true;
    }
    const std::string text = text_of(source);
    const uint64_t size = text.size();
    char done = 0;
    bool sound = send_all(mine->socket.get(), &size, sizeof size) &&
                 send_all(mine->socket.get(), text.data(), text.size());
    while (sound && !readable(mine->socket.get(), look_milliseconds)) sound = !cancel || !*cancel;
    sound = sound && receive_all(mine->socket.get(), &done, 1);
    const std::lock_guard hold(lock_);
    mine->busy = false;
    if (sound) return;
    end(*mine);
    std::erase_if(helpers_, [&](const auto& helper) { return helper.get() == mine; });
}

void serve_compiles(int socket, Compiler& compiler) {
    compiler.warm_up();
    for (;;) {
        uint64_t size = 0;
        if (!readable(socket, idle_milliseconds) || !receive_all(socket, &size, sizeof size) ||
            size > most_bytes)
            return;
        std::string text(size, '\0');
        if (!receive_all(socket, text.data(), text.size())) return;
        const std::optional<ProgramSource> source = source_from(text);
        if (!source) return;
        try {
            compiler.compile(*source);
        } catch (const std::exception&) {}    // who asked compiles it, too, and tells
        if (!send_all(socket, "k", 1)) return;
    }
}

}
