#pragma once
#include <nacelle/platform.h>
// Actions of a caller, one row for each agent of any type of number, into the arrays of an environment. A GPU and the
// host that has its actions in ordinary memory run the same text.

namespace nacelle {

enum class TakenType : uint32_t { i32, i64, u8, i8, i16, u16, u32, f32, f64 };

// Where one number of each row goes, and what it may be: one of `choices`, or a real number where there are none.
struct TakenPart {
    void* target;    // int32_t or float, one for each row
    int32_t choices;
    float low, high;
};

struct TakeActionsArgs {
    static constexpr uint32_t threads = 128;

    const void* source;    // [rows][parts]
    TakenType type;
    uint32_t parts;    // numbers of an action
    uint64_t rows;
    const TakenPart* part;
    uint64_t* fault;    // row * parts + part of the first number that may not be, or all ones
    // Of each environment `agents` of the `of` in a group are given, those with these ids; null: all, one after the other.
    const uint32_t* id;
    uint32_t agents, of;
};

namespace detail {

// Whether a choice is one of 0 to choices - 1, by one comparison, since a negative number becomes a large one.
template <class T> NACELLE_INLINE bool is_choice(T value, int32_t choices) {
    if constexpr (T(0.5) != T(0)) return value >= T(0) && value < T(choices);
    else if constexpr (sizeof(T) == 8) return uint64_t(value) < uint64_t(choices);
    else return uint32_t(value) < uint32_t(choices);
}

// Stores a number of an action, or the lowest one in place of what may not be. An environment never sees another.
template <class T> NACELLE_INLINE bool take_number(const TakenPart& part, uint64_t row, T value) {
    if (part.choices) {
        const bool open = is_choice(value, part.choices);
        static_cast<int32_t*>(part.target)[row] = open ? int32_t(value) : 0;
        return open;
    }
    const float number = float(value);
    const bool open = number >= part.low && number <= part.high;    // no NaN is
    static_cast<float*>(part.target)[row] = open ? number : part.low;
    return open;
}

// Where the numbers of a row go.
NACELLE_INLINE uint64_t taken_place(const TakeActionsArgs& args, uint64_t row) {
    return args.id ? row / args.agents * args.of + args.id[row % args.agents] : row;
}

template <class Fn> NACELLE_INLINE void with_type(TakenType type, const void* source, Fn&& fn) {
    switch (type) {
        case TakenType::i32: return fn(static_cast<const int32_t*>(source));
        case TakenType::i64: return fn(static_cast<const int64_t*>(source));
        case TakenType::u8: return fn(static_cast<const uint8_t*>(source));
        case TakenType::i8: return fn(static_cast<const int8_t*>(source));
        case TakenType::i16: return fn(static_cast<const int16_t*>(source));
        case TakenType::u16: return fn(static_cast<const uint16_t*>(source));
        case TakenType::u32: return fn(static_cast<const uint32_t*>(source));
        case TakenType::f32: return fn(static_cast<const float*>(source));
        case TakenType::f64: return fn(static_cast<const double*>(source));
    }
}

#if !NACELLE_GPU
// The bits of a whole number: 64 of a wide one, else 32; of a negative one the highest is set.
template <class T> auto bits_of(T value) {
    if constexpr (sizeof(T) == 8) return uint64_t(value);
    else return uint32_t(value);
}

// Stores choices that lie one after the other. Whether all may be, by bits alone, so that the loop vectorises for all
// processors; where one may not be, they are to be taken anew.
template <class T>
bool store_choices(const TakenPart& part, const T* source, uint64_t first, uint64_t last) {
    auto* const target = static_cast<int32_t*>(part.target);
    const uint32_t highest = uint32_t(part.choices) - 1;
    decltype(bits_of(T())) all = 0;
    uint32_t above = 0;
    for (uint64_t row = first; row < last; ++row) {
        const auto bits = bits_of(source[row]);
        all |= bits;
        target[row] = int32_t(bits);
        above |= highest - uint32_t(bits);
    }
    return all >> 31 == 0 && above >> 31 == 0;
}

// Rows in ordinary memory: a part after the other, in loops that vectorise where all agents are given. Returns the place
// of the first number that may not be, or all ones.
template <class T>
uint64_t take_rows(const TakeActionsArgs& args, const T* source, uint64_t first, uint64_t last) {
    uint64_t fault = ~uint64_t(0);
    if constexpr (T(0.5) == T(0))
        if (args.parts == 1 && args.part->choices && !args.id &&
            store_choices(*args.part, source, first, last))
            return fault;
    for (uint32_t k = 0; k < args.parts; ++k) {
        const TakenPart part = args.part[k];
        const auto take = [&](uint64_t row, uint64_t place) {
            return take_number(part, place, source[row * args.parts + k]);
        };
        bool all_open = true;
        if (args.id)
            for (uint64_t row = first; row < last; ++row)
                all_open &= take(row, taken_place(args, row));
        else
            for (uint64_t row = first; row < last; ++row) all_open &= take(row, row);
        for (uint64_t row = first; !all_open && row < last; ++row)
            if (!take(row, taken_place(args, row))) {
                fault = row * args.parts + k < fault ? row * args.parts + k : fault;
                break;
            }
    }
    return fault;
}
#elif !defined(NACELLE_EMULATE)
NACELLE_INLINE void take_row(const TakeActionsArgs& args, uint64_t row) {
    if (row >= args.rows) return;
    with_type(args.type, args.source, [&](const auto* source) {
        for (uint32_t k = 0; k < args.parts; ++k)
            if (!take_number(args.part[k], taken_place(args, row), source[row * args.parts + k]))
                atomicMin(reinterpret_cast<unsigned long long*>(args.fault),
                          (unsigned long long)(row * args.parts + k));
    });
}
#endif

}

#if NACELLE_GPU && !defined(NACELLE_EMULATE)
#define NACELLE_TAKE_ACTIONS()                                                                     \
    extern "C" __global__ void __launch_bounds__(nacelle::TakeActionsArgs::threads)                \
        nacelle_take_actions(const __grid_constant__ nacelle::TakeActionsArgs args) {              \
        nacelle::detail::take_row(args, uint64_t(blockIdx.x) * nacelle::TakeActionsArgs::threads + \
                                            threadIdx.x);                                          \
    }
#endif

}
