#pragma once
#include <atomic>
#include <optional>

#include <nanobind/nanobind.h>

namespace nacelle::python {

namespace nb = nanobind;

// Forks that this process comes from, since the module was imported.
long forks();
// To be called once, when the module is imported.
void count_forks();

// An engine is used by one thread at a time, in the process that opened it.
struct EngineUse {
    const long opened_after = forks();
    std::atomic<bool> busy = false;

    bool is_forked() const { return forks() != opened_after; }
    // Throws in a forked process, with what to do there.
    void require_own_process() const;
};

// One call into an engine. A long one lets other Python threads run meanwhile.
class Call final {
public:
    enum class Length { brief, lengthy };
    explicit Call(EngineUse& use, Length length = Length::brief);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

private:
    EngineUse& use_;
    std::optional<nb::gil_scoped_release> released_;
};

// Whether Ctrl-C was pressed, or another signal's handler raised: its exception is then set. From any thread that does
// not hold the interpreter.
bool interrupted();
// Throws what interrupted() has found.
void raise_interruption();

}
