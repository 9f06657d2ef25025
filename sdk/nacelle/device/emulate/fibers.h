#pragma once
// The threads of an emulated block take turns on one thread of the host: they meet thousands of times, and
// threads of an operating system would spend most of their time being woken. Turns go up and down the
// block, so that what one thread leaves for another without a meeting is found missing in half of them.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <sys/mman.h>
#include <ucontext.h>

namespace nacelle::emulate {

// `size()` objects in a row. <vector> and <mutex> have more, at half the time that an emulated build takes to compile.
template <class T> class Row final {
public:
    Row() = default;
    Row(const Row&) = delete;
    Row& operator=(const Row&) = delete;
    ~Row() { delete[] first_; }
    void renew(uint32_t count) {
        delete[] first_;
        first_ = nullptr;
        first_ = new T[count]();
        count_ = count;
    }
    uint32_t size() const { return count_; }
    T& operator[](uint32_t i) { return first_[i]; }

private:
    T* first_ = nullptr;
    uint32_t count_ = 0;
};

// Memory for stacks, kept from launch to launch. Below each lies a page that nobody may touch.
class Stacks final {
public:
#if defined(__SANITIZE_ADDRESS__)
    static constexpr size_t size = 1 << 20;
#else
    static constexpr size_t size = 1 << 18;
#endif
    Stacks() = default;
    Stacks(const Stacks&) = delete;
    Stacks& operator=(const Stacks&) = delete;
    ~Stacks() { clear(); }

    void reserve(uint32_t count) {
        if (count <= count_) return;
        clear();
        void* const memory = mmap(nullptr, count * size, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        memory_ = static_cast<unsigned char*>(memory);
        count_ = count;
        for (uint32_t i = 0; i < count; ++i) mprotect(memory_ + i * size, guard, PROT_NONE);
    }
    unsigned char* at(uint32_t i) const { return memory_ + i * size; }

private:
    static constexpr size_t guard = 4096;
    void clear() {
        if (memory_) munmap(memory_, count_ * size);
        memory_ = nullptr;
        count_ = 0;
    }
    unsigned char* memory_ = nullptr;
    uint32_t count_ = 0;
};

// `count` calls of a function that pause and go on.
class Fibers final {
public:
    // As many calls of fn(number); back when all have returned.
    template <class Fn> void run(Stacks& stacks, uint32_t count, Fn& fn) {
        stacks.reserve(count);
        body_ = [](void* what, uint32_t number) { (*static_cast<Fn*>(what))(number); };
        what_ = &fn;
        fibers_.renew(count);
        for (uint32_t i = 0; i < count; ++i) {
            ucontext_t& context = fibers_[i].context;
            getcontext(&context);
            context.uc_stack.ss_sp = stacks.at(i);
            context.uc_stack.ss_size = Stacks::size;
            context.uc_link = nullptr;
            makecontext(&context, &start, 0);
            // Or else the address sanitizer forgets what it knows of the stack at every turn.
            context.uc_stack.ss_size = 0;
        }
        left_ = count;
        now_ = 0;
        upwards_ = true;
        Fibers* const outer = here();
        here() = this;
        swapcontext(&home_, &fibers_[0].context);
        here() = outer;
    }
    // The others take their turns until `round` is another one.
    void wait(const uint32_t& round) {
        Fiber& mine = fibers_[now_];
        mine.round = &round;
        mine.since = round;
        pass_on();
    }
    uint32_t now() const { return now_; }
    static Fibers*& here() {
        static thread_local Fibers* fibers = nullptr;
        return fibers;
    }

private:
    struct Fiber {
        ucontext_t context;
        const uint32_t* round = nullptr;    // of the meeting that it waits at
        uint32_t since = 0;
        bool done = false;
        bool ready() const { return !done && (!round || *round != since); }
    };
    static void start() {
        Fibers& all = *here();
        all.body_(all.what_, all.now_);
        all.fibers_[all.now_].done = true;
        --all.left_;
        all.pass_on();
    }
    void pass_on() {
        Fiber& mine = fibers_[now_];
        const uint32_t count = fibers_.size();
        if (left_ == 0) {
            setcontext(&home_);
            return;
        }
        for (uint32_t tries = 0; tries <= 2 * count; ++tries) {
            if (now_ + 1 == count) upwards_ = false;
            if (now_ == 0) upwards_ = true;
            if (count > 1) now_ += upwards_ ? 1u : ~0u;
            Fiber& next = fibers_[now_];
            if (!next.ready()) continue;
            next.round = nullptr;
            if (&next != &mine) swapcontext(&mine.context, &next.context);
            return;
        }
        std::fprintf(stderr, "emulation: the threads of a block wait for each other in different "
                             "places, and none can go on\n");
        std::abort();
    }

    Row<Fiber> fibers_;
    ucontext_t home_ = {};
    void (*body_)(void*, uint32_t) = nullptr;
    void* what_ = nullptr;
    uint32_t left_ = 0, now_ = 0;
    bool upwards_ = true;
};

}
