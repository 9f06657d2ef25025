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

// Where a fiber goes on. swapcontext asks the kernel for the signals' mask at every turn, which takes longer than all
// else in it. It is left to the address sanitizer, which wants to know of every other stack, and to clang, whose
// __builtin_setjmp loses turns at -O3. The library's longjmp is no choice: a sanitized engine puts its own there.
class Course final {
public:
    void begin_at(unsigned char* stack, void (*start)()) {
        getcontext(&context_);
        context_.uc_stack.ss_sp = stack;
        context_.uc_stack.ss_size = Stacks::size;
        context_.uc_link = nullptr;
        makecontext(&context_, start, 0);
        // Or else the address sanitizer forgets what it knows of the stack at every turn.
        context_.uc_stack.ss_size = 0;
    }
#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
    void pass_to(Course& next) { swapcontext(&context_, &next.context_); }
#else
    void pass_to(Course& next) {
        begun_ = true;
        if (__builtin_setjmp(place_) == 0) next.go_on();
    }

private:
    [[gnu::noinline]] void go_on() {
        if (begun_) __builtin_longjmp(place_, 1);
        begun_ = true;
        setcontext(&context_);
    }
    void* place_[5];
    bool begun_ = false;    // and paused at `place_`
#endif

private:
    ucontext_t context_ = {};
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
        for (uint32_t i = 0; i < count; ++i) fibers_[i].course.begin_at(stacks.at(i), &start);
        left_ = count;
        now_ = 0;
        upwards_ = true;
        Fibers* const outer = here();
        here() = this;
        home_.pass_to(fibers_[0].course);
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
        Course course;
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
            mine.course.pass_to(home_);
            return;
        }
        for (uint32_t tries = 0; tries <= 2 * count; ++tries) {
            if (now_ + 1 == count) upwards_ = false;
            if (now_ == 0) upwards_ = true;
            if (count > 1) now_ += upwards_ ? 1u : ~0u;
            Fiber& next = fibers_[now_];
            if (!next.ready()) continue;
            next.round = nullptr;
            if (&next != &mine) mine.course.pass_to(next.course);
            return;
        }
        std::fprintf(stderr, "emulation: the threads of a block wait for each other in different "
                             "places, and none can go on\n");
        std::abort();
    }

    Row<Fiber> fibers_;
    Course home_;
    void (*body_)(void*, uint32_t) = nullptr;
    void* what_ = nullptr;
    uint32_t left_ = 0, now_ = 0;
    bool upwards_ = true;
};

}
