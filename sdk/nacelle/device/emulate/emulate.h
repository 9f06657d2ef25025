#pragma once
// Included by platform.h with -DNACELLE_EMULATE: what a GPU's code path asks of CUDA, on a CPU. A block's
// threads are fibers of one thread of the host. It is for tests: a block at a time, and slow.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <nacelle/device/emulate/fibers.h>
#include <pthread.h>

namespace nacelle::emulate {

// Where threads wait for each other; one that has left is not waited for.
class Meeting {
public:
    void join() { ++present_; }
    void leave() {
        --present_;
        if (arrived_ > 0 && arrived_ == present_) open();
    }
    // All bits that the threads brought to this meeting of `expected`; 0: of all that are there.
    uint32_t meet(uint32_t bits, uint32_t expected = 0) {
        gathered_ |= bits;
        if (++arrived_ == (expected ? expected : present_)) open();
        else Fibers::here()->wait(round_);
        return result_;    // the next meeting, which changes it, waits for this thread
    }
    // Whether this thread is the first one that asks since the last meeting.
    bool first_to_go_on() {
        const bool first = asked_ != round_;
        asked_ = round_;
        return first;
    }

private:
    void open() {
        result_ = gathered_;
        gathered_ = 0;
        arrived_ = 0;
        ++round_;
    }
    uint32_t round_ = 0, present_ = 0, arrived_ = 0, gathered_ = 0, result_ = 0, asked_ = 0;
};

struct Place {
    uint32_t x;
};
struct Warp : Meeting {
    alignas(64) unsigned char brought[2][32][64];    // what lanes exchange, likewise by turns
    Meeting part[32];    // of those whose first lane this is, for teams of less than a warp
    // What each lane lets the others see, in even and in odd rounds: of parts of a warp, and of all of it.
    uint64_t shown[2][2][32];
};
struct Thread {
    Meeting* block;
    Warp* warp;
    Place thread, place;
    // Rounds of shuffles of the part of a warp, of which one makes more than another, of the whole warp, and of exchanges.
    bool odd[2], exchanged;

    // The lanes of the mask meet: all that are left of the warp, or a part that is always named together.
    unsigned meet(unsigned mask, unsigned bits) const {
        if (mask == ~0u) return warp->meet(bits);
        return warp->part[__builtin_ctz(mask)].meet(bits, unsigned(__builtin_popcount(mask)));
    }
};
struct Block : Meeting {
    Fibers fibers;
    Row<Warp> warps;
    Row<Thread> threads;
};
inline thread_local Block* block_here = nullptr;
inline Thread& self() { return block_here->threads[block_here->fibers.now()]; }
// __shared__ is static here: one launch at a time.
inline pthread_mutex_t one_launch = PTHREAD_MUTEX_INITIALIZER;
struct OneLaunch {
    OneLaunch() { pthread_mutex_lock(&one_launch); }
    OneLaunch(const OneLaunch&) = delete;
    OneLaunch& operator=(const OneLaunch&) = delete;
    ~OneLaunch() { pthread_mutex_unlock(&one_launch); }
};
inline Stacks stacks;

// fn(block, thread) for every thread of every block, one block after the other.
template <class Fn>
void launch(uint64_t begin_block, uint64_t end_block, uint32_t threads_per_block, Fn fn) {
    const OneLaunch lock;
    for (uint64_t b = begin_block; b < end_block; ++b) {
        Block block;
        block.warps.renew((threads_per_block + 31) / 32);
        block.threads.renew(threads_per_block);
        for (uint32_t thread = 0; thread < threads_per_block; ++thread) {
            Warp& warp = block.warps[thread / 32];
            block.join();
            warp.join();
            block.threads[thread] = {&block, &warp, {thread}, {uint32_t(b)}, {}, false};
        }
        auto one = [&](uint32_t thread) {
            fn(b, thread);
            block.warps[thread / 32].leave();
            block.leave();
        };
        block_here = &block;
        block.fibers.run(stacks, threads_per_block, one);
    }
}

// Where all lanes of a warp write their share of a T. It stays until the exchange after the next.
template <class T> T& place_for_all() {
    static_assert(sizeof(T) <= sizeof(Warp::brought[0]));
    Thread& me = self();
    me.exchanged = !me.exchanged;
    return *reinterpret_cast<T*>(me.warp->brought[!me.exchanged]);
}
// All lanes of a warp meet; true for one of them, which goes on before the others do.
inline bool meet_and_lead() {
    Thread& me = self();
    me.meet(~0u, 0);
    return me.warp->first_to_go_on();
}

// Every lane of a warp gets what all of them have.
template <class T> void exchange(const T& mine, T (&all)[32]) {
    static_assert(sizeof(T) <= 64);
    Thread& me = self();
    auto& place = me.warp->brought[me.exchanged];
    me.exchanged = !me.exchanged;
    std::memcpy(place[me.thread.x % 32], &mine, sizeof mine);
    me.meet(~0u, 0);
    for (int lane = 0; lane < 32; ++lane) std::memcpy(&all[lane], place[lane], sizeof mine);
}

}

#define threadIdx (nacelle::emulate::self().thread)
#define blockIdx (nacelle::emulate::self().place)
#define __shared__ static
#define __device__
#define __host__
#define __forceinline__ inline

inline void __syncthreads() { nacelle::emulate::self().block->meet(0); }
inline int __syncthreads_or(int set) { return nacelle::emulate::self().block->meet(set != 0) != 0; }
inline void __syncwarp(unsigned mask = ~0u) { nacelle::emulate::self().meet(mask, 0); }
inline unsigned __ballot_sync(unsigned mask, bool set) {
    nacelle::emulate::Thread& self = nacelle::emulate::self();
    return self.meet(mask, unsigned(set) << self.thread.x % 32);
}
template <class T> T __shfl_sync(unsigned mask, T value, int lane) {
    nacelle::emulate::Thread& self = nacelle::emulate::self();
    const bool whole = mask == ~0u;
    uint64_t* const shown = self.warp->shown[whole][self.odd[whole]];
    self.odd[whole] = !self.odd[whole];    // a lane that is late still reads the last round's
    std::memcpy(&shown[self.thread.x % 32], &value, sizeof value);
    self.meet(mask, 0);
    std::memcpy(&value, &shown[lane & 31], sizeof value);
    return value;
}
template <class T> T __shfl_xor_sync(unsigned mask, T value, int other) {
    return __shfl_sync(mask, value, int(nacelle::emulate::self().thread.x % 32) ^ other);
}
template <class T> T __shfl_up_sync(unsigned mask, T value, unsigned by, int width) {
    const int lane = int(nacelle::emulate::self().thread.x % 32);
    const T below = __shfl_sync(mask, value, lane - int(by));
    return lane % width >= int(by) ? below : value;
}
inline int atomicAdd(int* target, int more) {
    return __atomic_fetch_add(target, more, __ATOMIC_RELAXED);
}
inline int __ffs(int bits) { return __builtin_ffs(bits); }
template <class T> T __ldg(const T* from) { return *from; }
template <class T> T atomicMin(T* target, T value) {
    T seen = __atomic_load_n(target, __ATOMIC_RELAXED);
    while (value < seen && !__atomic_compare_exchange_n(target, &seen, value, true,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    return seen;
}
