#pragma once
#include "engine/base/descriptor.h"
#include "engine/jit/jit.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace nacelle {

// Processes that compile in parallel to this one: NVRTC compiles nearly one program at a time in a process, and a run
// has up to seven (six of the learner, one of the environment). A helper stores its result in the cache, where this
// process finds it. Where a helper fails, this process compiles by itself.
class CompileHelpers final {
public:
    // `command` starts a helper, which calls serve_compiles() with its standard input. A helper can start before the
    // architecture is known.
    CompileHelpers(std::vector<std::string> command, size_t count)
        : command_(std::move(command)), count_(count) {}
    ~CompileHelpers();
    CompileHelpers(const CompileHelpers&) = delete;
    CompileHelpers& operator=(const CompileHelpers&) = delete;

    // Starts the helpers that do not run yet, and does not wait for them.
    void start();
    // Sends the source to the next free helper and waits; does nothing where none runs. Setting `cancel` ends the
    // wait.
    void compile(const std::string& architecture, const ProgramSource& source,
                 const std::atomic<bool>* cancel);

private:
    struct Helper {
        pid_t process;
        Descriptor socket;
        bool busy = false;
    };
    std::optional<Helper> started() const;
    Helper* next_free(const std::atomic<bool>* cancel);
    static void stop(Helper& helper);
    static void await_end(Helper& helper);

    std::vector<std::string> command_;
    size_t count_;
    std::mutex lock_;
    std::condition_variable freed_;
    std::vector<std::unique_ptr<Helper>> helpers_;
};

// The main loop of a helper: compiles what it receives until the socket is closed or ten minutes pass without a
// request. `open` gives the compiler for an architecture.
void serve_compiles(
    int socket,
    const std::function<std::unique_ptr<Compiler>(const std::string& architecture)>& open);

// A source as one text, and back; nothing where the text is not a source.
std::string text_of(const ProgramSource& source);
std::optional<ProgramSource> source_from(std::string_view text);

}
