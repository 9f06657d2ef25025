#pragma once
#include "engine/base/descriptor.h"
#include "engine/jit/jit.h"

#include <mutex>
#include <optional>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace nacelle {

// Processes that compile beside this one. NVRTC lets one thread of a process compile at a time, nearly; a learner has
// three programs. What a helper makes it keeps in the cache, where this process finds it: whatever goes wrong there, it
// is not there, and this process compiles as if it had none.
class CompileHelpers final {
public:
    // `command` starts one that calls serve_compiles() with its standard input.
    CompileHelpers(std::vector<std::string> command, size_t count)
        : command_(std::move(command)), count_(count) {}
    ~CompileHelpers();
    CompileHelpers(const CompileHelpers&) = delete;
    CompileHelpers& operator=(const CompileHelpers&) = delete;

    // Starts those that do not run, and does not wait for them.
    void start();
    // Has one compile it, and waits; nothing where none is free. Setting `cancel` ends it.
    void compile(const ProgramSource& source, const std::atomic<bool>* cancel);

private:
    struct Helper {
        pid_t process;
        Descriptor socket;
        bool busy = false;
    };
    std::optional<Helper> started() const;
    static void end(Helper& helper);

    std::vector<std::string> command_;
    size_t count_;
    std::mutex lock_;
    std::vector<std::unique_ptr<Helper>> helpers_;
};

// A helper's life: compiles what it is sent until the other end is closed, or until nothing was asked of it for a
// minute.
void serve_compiles(int socket, Compiler& compiler);

// A source as one text, and back; nothing where it is not one.
std::string text_of(const ProgramSource& source);
std::optional<ProgramSource> source_from(std::string_view text);

}
