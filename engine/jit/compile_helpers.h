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

// Processes that compile beside this one. NVRTC lets one thread of a process compile at a time, nearly; a learner has
// four programs, its environment one more. What a helper makes it keeps in the cache, where this process finds it:
// whatever goes wrong there, it is not there, and this process compiles as if it had none.
class CompileHelpers final {
public:
    // `command` starts one that calls serve_compiles() with its standard input. It can get ready before anybody knows
    // for which architecture.
    CompileHelpers(std::vector<std::string> command, size_t count)
        : command_(std::move(command)), count_(count) {}
    ~CompileHelpers();
    CompileHelpers(const CompileHelpers&) = delete;
    CompileHelpers& operator=(const CompileHelpers&) = delete;

    // Starts those that do not run, and does not wait for them.
    void start();
    // Has one compile it, the next that is free, and waits; nothing where there is none. Setting `cancel` ends it.
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

// A helper's life: compiles what it is sent until the other end is closed, or until nothing was asked of it for a
// minute. `open` gives the compiler for an architecture.
void serve_compiles(
    int socket,
    const std::function<std::unique_ptr<Compiler>(const std::string& architecture)>& open);

// A source as one text, and back; nothing where it is not one.
std::string text_of(const ProgramSource& source);
std::optional<ProgramSource> source_from(std::string_view text);

}
