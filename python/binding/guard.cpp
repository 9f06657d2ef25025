#include "python/binding/guard.h"

#include <pthread.h>

namespace nacelle::python {
namespace {

std::atomic<long> forks_so_far = 0;

}

long forks() { return forks_so_far.load(std::memory_order_relaxed); }

void count_forks() {
    pthread_atfork(nullptr, nullptr, [] { ++forks_so_far; });
}

void EngineUse::require_own_process() const {
    if (!is_forked()) return;
    PyErr_SetString(
        PyExc_RuntimeError,
        "this process was forked from the one that opened the engine, and has neither its "
        "threads nor its GPU: make environments and runs in the child, or start it by "
        "multiprocessing.get_context('spawn')");
    throw nb::python_error();
}

Call::Call(EngineUse& use, Length length) : use_(use) {
    use_.require_own_process();
    if (use_.busy.exchange(true)) {
        PyErr_SetString(PyExc_RuntimeError,
                        "another thread is in a call of this engine: give each thread an engine of "
                        "its own (nacelle.Engine), or let them take turns");
        throw nb::python_error();
    }
    if (length == Length::lengthy) released_.emplace();
}

Call::~Call() {
    released_.reset();
    use_.busy = false;
}

bool interrupted() {
    const nb::gil_scoped_acquire held;
    return PyErr_Occurred() || PyErr_CheckSignals() != 0;
}

void raise_interruption() {
    if (PyErr_Occurred() || PyErr_CheckSignals() != 0) throw nb::python_error();
}

}
