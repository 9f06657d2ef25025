#pragma once
#include <nacelle/device/team/shape.h>
// The threads that work on one team: their barrier, their shares of the work, and reductions whose result all
// of them get, with the same bits for any number of threads. On a CPU it is one thread and a loop.

namespace nacelle::detail {

// In which order a CPU visits agents. Any order must give the same bits; `check` takes the other one.
#if defined(NACELLE_REVERSED)
NACELLE_INLINE int visited(int i, int n) { return n - 1 - i; }
#else
NACELLE_INLINE int visited(int i, int) { return i; }
#endif

#if NACELLE_GPU
template <class T> NACELLE_INLINE T shuffled(uint32_t mask, T value, int other) {
    return __shfl_xor_sync(mask, value, other);
}
#endif

// How much work a thread has for one item.
enum class Weight { light, usual, heavy };

template <class E> class TeamThreads {
    using Form = Shape<E>;

public:
    static constexpr int lanes = Form::lanes;
    // The thread's number in its team.
    int lane = 0;

#if NACELLE_GPU
    TeamThreads() {
        lane = int(threadIdx.x) % Form::threads;
        if constexpr (Form::blocks > 1) lane += int(blockIdx.x) % Form::blocks * Form::threads;
        else if constexpr (lanes < Form::threads) lane = int(threadIdx.x) % lanes;
    }
    // Those of a warp, or of the part of it that is this team.
    static NACELLE_INLINE uint32_t unit_mask() {
        if constexpr (lanes >= 32) return ~0u;
        else return ((1u << lanes) - 1) << (threadIdx.x % 32 / lanes * lanes);
    }
    static NACELLE_INLINE void sync_unit() {
        if constexpr (lanes > 1) __syncwarp(unit_mask());
    }
    static NACELLE_INLINE void sync() {
        if constexpr (lanes <= 32) sync_unit();
        else if constexpr (Form::blocks == 1) __syncthreads();
        else {
#if defined(__CUDACC_RTC__)
            asm volatile("barrier.cluster.arrive.release.aligned;\n"
                         "barrier.cluster.wait.acquire.aligned;" ::
                             : "memory");
#endif
        }
    }
    // fn(i) for i below n, each by one thread.
    template <class Fn> NACELLE_INLINE void spread(int n, Fn&& fn) const {
        NACELLE_ROLLED for (int i = lane; i < n; i += lanes) fn(i);
    }
    // The same where n is known: two at a time, so that one's loads hide behind the other's. A heavy fn
    // goes one at a time, since it fills the registers by itself, a light one four at a time.
    template <int n, Weight weight = Weight::usual, class Fn>
    NACELLE_INLINE void spread_over(Fn&& fn) const {
        if constexpr (n <= lanes) {
            if (lane < n) fn(lane);
        } else if constexpr (weight == Weight::heavy) spread(n, fn);
        else {
            if constexpr (weight == Weight::light)
                NACELLE_FOURFOLD for (int round = 0; round < n / lanes; ++round)
                    fn(lane + round * lanes);
            else
                NACELLE_TWICE for (int round = 0; round < n / lanes; ++round)
                    fn(lane + round * lanes);
            if (n % lanes != 0 && lane < n % lanes) fn(lane + n / lanes * lanes);
        }
    }
    // first(i), then each of the others with what came of the one before, for i below n; several i go
    // through a stage before the next one begins. Memory that is written where it is also read keeps a
    // compiler from doing so by itself, and a thread would wait for each read alone.
    template <int n, int together, class First, class... Then>
    NACELLE_INLINE void spread_in_stages(First&& first, Then&&... then) const {
        constexpr int at_once = lanes * together, rest = n % at_once;
        NACELLE_ROLLED for (int base = 0; base + at_once <= n; base += at_once)
            stages<at_once>(base, first, then...);
        if constexpr (rest > 0) stages<rest>(n - rest, first, then...);
    }
#else
    static void sync() {}
    template <class Fn> void spread(int n, Fn&& fn) const {
        for (int i = 0; i < n; ++i) fn(visited(i, n));
    }
    template <int n, Weight weight = Weight::usual, class Fn> void spread_over(Fn&& fn) const {
        spread(n, fn);
    }
    template <int n, int together, class First, class... Then>
    void spread_in_stages(First&& first, Then&&... then) const {
        spread(n, [&](int i) { follow(i, first(i), then...); });
    }
#endif

    // value(0) op value(1) op ... op value(n - 1) in a tree of a fixed form: neighbours first, strips of
    // 32, then the strips likewise. `none` changes nothing and stands in for what lies behind n.
    template <int n, class T, class Value, class Op>
    NACELLE_INLINE T combine(TeamMemory<E>& memory, int& turn, T none, Value value, Op op) const {
#if NACELLE_GPU
        if constexpr (lanes <= 32 && n <= lanes) {
            T whole = lane < n ? value(lane) : none;
            NACELLE_UNROLL for (int other = 1; other < lanes; other *= 2) whole =
                op(whole, shuffled(unit_mask(), whole, other));
            return whole;
        } else {
            uint64_t* const place = memory.partial[turn];
            turn ^= 1;
            constexpr int strips = strips_of(n);
            combine_strips<n>(place, none, value, op);
            sync();
            const auto part = [&](int i) { return from_place<T>(place[i]); };
            // Up to 64 of them in every warp: cheaper than a barrier.
            if constexpr (strips <= 32) return combine_warp<strips>(none, part, op);
            else if constexpr (strips <= 64) {
                const T low = combine_warp<32>(none, part, op);
                return op(low, combine_warp<strips - 32>(
                                   none, [&](int i) { return part(32 + i); }, op));
            } else {
                constexpr int second = strips_of(strips);
                static_assert(second <= 32, "at most 32,768 agents in a group");
                combine_strips<strips>(place + strips, none, part, op);
                sync();
                return combine_warp<second>(
                    none, [&](int i) { return from_place<T>(place[strips + i]); }, op);
            }
        }
#else
        (void)memory, (void)turn;
        T strips[strips_of(n)];
        for (int s = 0; s < strips_of(n); ++s)
            strips[s] = tree(
                min(strip, n - s * strip), none, [&](int i) { return value(s * strip + i); }, op);
        if constexpr (strips_of(n) == 1) return strips[0];
        else {
            constexpr int second = strips_of(strips_of(n));
            T further[second];
            for (int s = 0; s < second; ++s)
                further[s] = tree(
                    min(strip, strips_of(n) - s * strip), none,
                    [&](int i) { return strips[s * strip + i]; }, op);
            return tree(
                second, none, [&](int i) { return further[i]; }, op);
        }
#endif
    }

    // The same for an op that gives equal bits in any order: each thread begins with its own.
    template <int n, class T, class Value, class Op>
    NACELLE_INLINE T combine_any_order(TeamMemory<E>& memory, int& turn, T none, Value value,
                                       Op op) const {
#if NACELLE_GPU
        if constexpr (n > lanes) {
            T own = none;
            spread_over<n>([&](int i) { own = op(own, value(i)); });
            return combine<lanes>(
                memory, turn, none, [&](int) { return own; }, op);
        }
#endif
        return combine<n>(memory, turn, none, value, op);
    }

private:
    template <class T> static NACELLE_INLINE uint64_t to_place(T value) {
        if constexpr (sizeof(T) == 8) return __builtin_bit_cast(uint64_t, value);
        else return __builtin_bit_cast(uint32_t, value);
    }
    template <class T> static NACELLE_INLINE T from_place(uint64_t place) {
        if constexpr (sizeof(T) == 8) return __builtin_bit_cast(T, place);
        else return __builtin_bit_cast(T, uint32_t(place));
    }
#if NACELLE_GPU
    // So many things from `base` on.
    template <int count, class First, class... Then>
    NACELLE_INLINE void stages(int base, First& first, Then&... then) const {
        decltype(first(0)) value[(count + lanes - 1) / lanes];
        for_own<count>([&](int j) { value[j] = first(base + lane + j * lanes); });
        follow<count>(base, value, then...);
    }
    template <int count, class Value, int rounds, class Next, class... Then>
    NACELLE_INLINE void follow(int base, const Value (&value)[rounds], Next& next,
                               Then&... then) const {
        const auto one = [&](int j) { return next(base + lane + j * lanes, value[j]); };
        if constexpr (sizeof...(then) == 0) for_own<count>(one);
        else {
            decltype(one(0)) made[rounds];
            for_own<count>([&](int j) { made[j] = one(j); });
            follow<count>(base, made, then...);
        }
    }
    // fn(j) for this thread's part of them: only the last may be lacking.
    template <int count, class Fn> NACELLE_INLINE void for_own(Fn&& fn) const {
        NACELLE_UNROLL for (int j = 0; j < (count + lanes - 1) / lanes;
                            ++j) if ((j + 1) * lanes <= count || lane + j * lanes < count) fn(j);
    }
    // Of up to 32 values, in every warp alike.
    template <int n, class T, class Value, class Op>
    NACELLE_INLINE T combine_warp(T none, Value value, Op op) const {
        const int at = lane % 32;
        T whole = at < n ? value(at) : none;
        NACELLE_UNROLL for (int other = 1; other < 32; other *= 2) whole =
            op(whole, shuffled(~0u, whole, other));
        return whole;
    }
    template <int n, class T, class Value, class Op>
    NACELLE_INLINE void combine_strips(uint64_t* place, T none, Value value, Op op) const {
        NACELLE_ROLLED for (int s = lane / 32; s < strips_of(n); s += lanes / 32) {
            const int at = s * strip + lane % 32;
            T whole = at < n ? value(at) : none;
            NACELLE_UNROLL for (int other = 1; other < 32; other *= 2) whole =
                op(whole, shuffled(~0u, whole, other));
            if (lane % 32 == 0) place[s] = to_place(whole);
        }
    }
#else
    template <class Value, class Next, class... Then>
    static void follow(int i, const Value& value, Next& next, Then&... then) {
        if constexpr (sizeof...(then) == 0) next(i, value);
        else follow(i, next(i, value), then...);
    }
    template <class T, class Value, class Op> static T tree(int n, T none, Value value, Op op) {
        T part[strip];
        for (int i = 0; i < strip; ++i) part[i] = none;
        for (int i = 0; i < n; ++i) part[visited(i, n)] = value(visited(i, n));
        for (int width = 1; width < strip; width *= 2)
            for (int i = 0; i < strip; i += 2 * width) part[i] = op(part[i], part[i + width]);
        return part[0];
    }
#endif
};

}
