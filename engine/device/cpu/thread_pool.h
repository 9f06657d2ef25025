#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

namespace nacelle {

// Worker threads for kernels. The caller of run() is one of them.
class ThreadPool final {
public:
    using Task = void (*)(const void* args, uint64_t begin, uint64_t end);

    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int threads() const { return workers_count_ + 1; }

    // Runs `task` over the blocks [0, blocks), one contiguous range a thread, and returns when all have run. A thread
    // gets the same range for equal work, so that its rows are in its own cache. Rethrows the exception of the first
    // range that threw one. Several threads may call it and take turns; a task must not call it.
    void run(Task task, const void* args, uint64_t blocks);

private:
    static constexpr size_t cache_line = 64;
    enum State : uint32_t { idle, asleep, work, stop };

    // Each worker polls a cache line of its own: waking one does not disturb the others.
    struct alignas(cache_line) Worker {
        std::atomic<uint32_t> state{idle};
        std::exception_ptr failure;
        std::thread thread;
    };

    struct Job {
        Task task = nullptr;
        const void* args = nullptr;
        uint64_t blocks = 0;
        uint64_t pieces = 0;
    };

    void serve(Worker& worker, uint64_t piece);
    void run_piece(uint64_t piece, std::exception_ptr& failure) const noexcept;
    void wait_for_workers();
    void stop_workers(int started) noexcept;
    static void hand_over(Worker& worker, State state);

    int workers_count_;
    int spins_;
    std::unique_ptr<Worker[]> workers_;
    std::mutex turn_;
    Job job_;
    alignas(cache_line) std::atomic<uint32_t> pending_{0};
};

}
