#include "engine/device/cpu/thread_pool.h"

#include "engine/base/error.h"
#include "engine/base/signal_stack.h"

#include <algorithm>
#include <cfenv>
#include <nacelle/plugin/failure_text.h>
#include <string>
#include <system_error>
#include <utility>

namespace nacelle {
namespace {

// About 100 us: longer than the pause between two launches of a training loop, too short to be
// seen as a busy processor. With 16 threads a launch takes 4 us while they spin and 240 us once
// they sleep (16 processors of a Xeon of 2023, 2026-11).
constexpr int spins_before_sleep = 2000;

constexpr uint32_t caller_asleep = 1u << 31;

// One iteration of a short busy wait. It yields now and then: the awaited thread may need this processor (on a busy
// machine of 2 processors a launch took 50 us without it and 5 us with it, GCC 12, 2026-11).
void relax(int turn) {
    if (turn % 64 == 63) std::this_thread::yield();
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// Gives every thread the same floating-point mode: rounding and flushing of denormals belong to a thread, and a host
// application may have changed them on the calling thread alone.
class PlainArithmetic final {
public:
    PlainArithmetic() {
        std::fegetenv(&saved_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~PlainArithmetic() { std::fesetenv(&saved_); }
    PlainArithmetic(const PlainArithmetic&) = delete;
    PlainArithmetic& operator=(const PlainArithmetic&) = delete;

private:
    std::fenv_t saved_;
};

}

ThreadPool::ThreadPool(int threads)
    : workers_count_(threads - 1),
      spins_(threads <= static_cast<int>(std::thread::hardware_concurrency()) ? spins_before_sleep
                                                                              : 0),
      workers_(std::make_unique<Worker[]>(static_cast<size_t>(workers_count_))) {
    for (int i = 0; i < workers_count_; ++i) {
        Worker& worker = workers_[static_cast<size_t>(i)];
        const uint64_t piece = static_cast<uint64_t>(i) + 1;
        try {
            worker.thread = std::thread([this, &worker, piece] { serve(worker, piece); });
        } catch (const std::system_error& error) {
            stop_workers(i);
            throw Error("threads", "worker thread " + std::to_string(i + 1) + " of " +
                                       std::to_string(workers_count_) +
                                       " was not started: " + plugin::failure_text(error));
        }
    }
}

ThreadPool::~ThreadPool() { stop_workers(workers_count_); }

void ThreadPool::run(Task task, const void* args, uint64_t blocks) {
    const uint64_t pieces = std::min(blocks, static_cast<uint64_t>(threads()));
    if (pieces <= 1) {
        const PlainArithmetic plain;
        if (blocks) task(args, 0, blocks);
        return;
    }
    const std::lock_guard lock(turn_);
    job_ = {task, args, blocks, pieces};
    pending_.store(static_cast<uint32_t>(pieces - 1), std::memory_order_relaxed);
    for (uint64_t piece = 1; piece < pieces; ++piece) hand_over(workers_[piece - 1], work);
    std::exception_ptr failure;
    run_piece(0, failure);
    wait_for_workers();
    for (uint64_t piece = 1; piece < pieces; ++piece) {
        const std::exception_ptr theirs = std::exchange(workers_[piece - 1].failure, nullptr);
        if (!failure) failure = theirs;
    }
    if (failure) std::rethrow_exception(failure);
}

void ThreadPool::hand_over(Worker& worker, State state) {
    if (worker.state.exchange(state, std::memory_order_acq_rel) == asleep) {
        worker.state.notify_one();
    }
}

void ThreadPool::serve(Worker& worker, uint64_t piece) {
    const SignalStack stack;    // an author's function may call itself without end
    for (;;) {
        uint32_t state = worker.state.load(std::memory_order_acquire);
        for (int i = 0; state == idle && i < spins_; ++i) {
            relax(i);
            state = worker.state.load(std::memory_order_acquire);
        }
        if (state == idle && worker.state.compare_exchange_strong(state, asleep)) {
            worker.state.wait(asleep, std::memory_order_acquire);
            state = worker.state.load(std::memory_order_acquire);
        }
        if (state == stop) return;
        run_piece(piece, worker.failure);
        worker.state.store(idle, std::memory_order_relaxed);
        const uint32_t before = pending_.fetch_sub(1, std::memory_order_acq_rel);
        if (before == (caller_asleep | 1)) pending_.notify_one();
    }
}

void ThreadPool::run_piece(uint64_t piece, std::exception_ptr& failure) const noexcept {
    const uint64_t share = job_.blocks / job_.pieces;
    const uint64_t left = job_.blocks % job_.pieces;
    const uint64_t begin = piece * share + std::min(piece, left);
    const PlainArithmetic plain;
    try {
        job_.task(job_.args, begin, begin + share + (piece < left));
    } catch (...) {
        failure = std::current_exception();
    }
}

void ThreadPool::wait_for_workers() {
    for (int i = 0; i < spins_; ++i) {
        if (pending_.load(std::memory_order_acquire) == 0) return;
        relax(i);
    }
    uint32_t left = pending_.fetch_or(caller_asleep, std::memory_order_acq_rel) | caller_asleep;
    while (left != caller_asleep) {
        pending_.wait(left, std::memory_order_acquire);
        left = pending_.load(std::memory_order_acquire);
    }
}

void ThreadPool::stop_workers(int started) noexcept {
    for (int i = 0; i < started; ++i) {
        Worker& worker = workers_[static_cast<size_t>(i)];
        hand_over(worker, stop);
        worker.thread.join();
    }
}

}
