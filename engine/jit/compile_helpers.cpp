#include "engine/jit/compile_helpers.h"

#include "engine/base/process.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <map>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace nacelle {
namespace {

constexpr int idle_milliseconds = 600'000, look_milliseconds = 20;
constexpr uint64_t most_bytes = 1 << 28;

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
// Waits until there is data or the end of the stream; false after the timeout.
bool readable(int socket, int milliseconds) {
    pollfd one{socket, POLLIN, 0};
    return ::poll(&one, 1, milliseconds) > 0;
}

}

CompileHelpers::~CompileHelpers() {
    // The system takes a while to free the memory of a compiler: end all helpers at once.
    for (const auto& helper : helpers_) stop(*helper);
    for (const auto& helper : helpers_) await_end(*helper);
}

void CompileHelpers::stop(Helper& helper) { ::kill(helper.process, SIGKILL); }
void CompileHelpers::await_end(Helper& helper) {
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
    // A helper ends after a while without requests, and the system may have ended it.
    std::erase_if(helpers_, [](const std::unique_ptr<Helper>& helper) {
        if (helper->busy || !readable(helper->socket.get(), 0)) return false;
        stop(*helper);
        await_end(*helper);
        return true;
    });
    while (helpers_.size() < count_) {
        std::optional<Helper> helper = started();
        if (!helper) return;
        helpers_.push_back(std::make_unique<Helper>(*std::move(helper)));
    }
}

CompileHelpers::Helper* CompileHelpers::next_free(const std::atomic<bool>* cancel) {
    std::unique_lock hold(lock_);
    while (!helpers_.empty() && !(cancel && *cancel)) {
        for (const auto& helper : helpers_)
            if (!std::exchange(helper->busy, true)) return helper.get();
        freed_.wait_for(hold, std::chrono::milliseconds(look_milliseconds));
    }
    return nullptr;
}

void CompileHelpers::compile(const std::string& architecture, const ProgramSource& source,
                             const std::atomic<bool>* cancel) {
    Helper* const mine = next_free(cancel);
    if (!mine) return;
    const std::string text = architecture + '\n' + text_of(source);
    const uint64_t size = text.size();
    char done = 0;
    const std::string_view length(reinterpret_cast<const char*>(&size), sizeof size);
    bool sound = send_text(mine->socket.get(), length) && send_text(mine->socket.get(), text);
    while (sound && !readable(mine->socket.get(), look_milliseconds)) sound = !cancel || !*cancel;
    sound = sound && receive_all(mine->socket.get(), &done, 1);
    const std::lock_guard hold(lock_);
    mine->busy = false;
    freed_.notify_all();
    if (sound) return;
    stop(*mine);
    await_end(*mine);
    std::erase_if(helpers_, [&](const auto& helper) { return helper.get() == mine; });
}

void serve_compiles(
    int socket,
    const std::function<std::unique_ptr<Compiler>(const std::string& architecture)>& open) {
    std::map<std::string, std::unique_ptr<Compiler>> compilers;
    // NVRTC compiles for seconds: the parent may be gone by then.
    std::thread([socket] {
        pollfd one{socket, POLLRDHUP, 0};
        while (::poll(&one, 1, -1) < 0 && errno == EINTR) {}
        ::_exit(0);
    }).detach();
    if (!readable(socket, 0)) warm_nvrtc();
    for (;;) {
        uint64_t size = 0;
        if (!readable(socket, idle_milliseconds) || !receive_all(socket, &size, sizeof size) ||
            size > most_bytes)
            return;
        std::string text(size, '\0');
        if (!receive_all(socket, text.data(), text.size())) return;
        const size_t line = std::min(text.find('\n'), text.size());
        const std::string architecture = text.substr(0, line);
        const std::optional<ProgramSource> source =
            source_from(std::string_view(text).substr(std::min(line + 1, text.size())));
        if (!source) return;
        try {
            std::unique_ptr<Compiler>& compiler = compilers[architecture];
            if (!compiler) compiler = open(architecture);
            compiler->compile(*source);
        } catch (const std::exception&) {}    // who asked compiles it, too, and tells
        if (!send_text(socket, "k")) return;
    }
}

}
