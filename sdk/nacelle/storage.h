#pragma once
#include <nacelle/device/episode/fault.h>

namespace nacelle {
namespace detail {

template <int... D> inline constexpr int product = (1 * ... * D);

#if NACELLE_GPU
struct alignas(16) Sixteen {
    uint32_t word[4];
};
template <int bytes> struct Unit { using type = uint8_t; };
template <> struct Unit<2> { using type = uint16_t; };
template <> struct Unit<4> { using type = uint32_t; };
template <> struct Unit<8> { using type = unsigned long long; };
// Past the first-level cache's bookkeeping of writes; __ldg itself knows neither bool nor enums.
template <class T> NACELLE_INLINE T read_only(const T* from) {
    return __builtin_bit_cast(T,
                              __ldg(reinterpret_cast<const typename Unit<sizeof(T)>::type*>(from)));
}
#endif

// The position of (i, j, k) in a row-major array of the given sizes.
template <int... D, class... I> constexpr uint32_t position(I... index) {
    static_assert(sizeof...(I) == sizeof...(D), "as many indices as the array has dimensions");
    uint32_t n = 0;
    ((n = n * uint32_t(D) + uint32_t(index)), ...);
    return n;
}
// In a checked build every index must lie within its own size; elsewhere this is nothing.
template <int... D, class... I> NACELLE_INLINE void check_position(const char* what, I... index) {
    if constexpr (sizeof...(I) == sizeof...(D)) (check_index(what, (long long)(index), D), ...);
}

// fn(i, j, ...) for the n-th element of an array of the given sizes; the first size is not needed.
template <int... D, class Fn> constexpr auto call_at(Fn& fn, int n) {
    constexpr int rank = sizeof...(D), sizes[rank] = {D...};
    static_assert(rank <= 4, "at most 4 dimensions");
    int index[rank] = {};
    for (int d = rank - 1; d > 0; --d) {
        index[d] = n % sizes[d];
        n /= sizes[d];
    }
    index[0] = n;
    if constexpr (rank == 1) return fn(index[0]);
    else if constexpr (rank == 2) return fn(index[0], index[1]);
    else if constexpr (rank == 3) return fn(index[0], index[1], index[2]);
    else return fn(index[0], index[1], index[2], index[3]);
}

// buffer[n++] = fn(i, j, ...) in row-major order by nested loops: an index computed by division for
// each element costs three times as much on a CPU (1.2 against 4.1 M steps/s in a grid world).
template <int First, int... Rest, class T, class Fn, class... I>
NACELLE_INLINE void fill_nested(T* buffer, int& n, Fn& fn, I... outer) {
    for (int i = 0; i < First; ++i) {
        if constexpr (sizeof...(Rest) == 0) buffer[n++] = fn(outer..., i);
        else fill_nested<Rest...>(buffer, n, fn, outer..., i);
    }
}

}

// A large array of fixed size, used in place and never copied into registers: array(y, x), array[i].
// In State and Agent it is storage, laid out as the engine sees fit. In Obs it is a part of the
// observation with its own type and shape, say an image, to be written with fill(fn).
template <class T, int... D> struct Array {
    using element = T;
    static constexpr int size = detail::product<D...>;

    template <class... I> NACELLE_INLINE T& operator()(I... i) {
        detail::check_position<D...>("an Array", i...);
        return (*this)[int(detail::position<D...>(i...))];
    }
    template <class... I> NACELLE_INLINE const T& operator()(I... i) const {
        detail::check_position<D...>("an Array", i...);
        return (*this)[int(detail::position<D...>(i...))];
    }
    NACELLE_INLINE T& operator[](int i) {
        detail::check_index("an Array", i, size);
        return first[size_t(uint32_t(i)) * stride];
    }
    NACELLE_INLINE const T& operator[](int i) const {
        detail::check_index("an Array", i, size);
        return first[size_t(uint32_t(i)) * stride];
    }

    void fill(T value) {
        for (int i = lane; i < size; i += lanes) (*this)[i] = value;
    }
    // Element (i, j, k) = fn(i, j, k); the engine spreads the elements over the threads it has.
    template <class Fn>
    requires requires(Fn& fn) { fn(((void)D, 0)...); }
    void fill(Fn&& fn) {
#if defined(__CUDACC_RTC__)
        // Elements that lie side by side are stored 16 bytes at a time: single bytes of one thread wait for each other.
        constexpr int together = int(sizeof(detail::Sixteen) / sizeof(T));
        if constexpr (size % together == 0 && size >= 4 * together) {
            if (stride == 1 && reinterpret_cast<size_t>(first) % sizeof(detail::Sixteen) == 0) {
                NACELLE_ROLLED for (int n = lane * together; n < size; n += lanes * together) {
                    alignas(detail::Sixteen) T made[together];
                    NACELLE_UNROLL for (int k = 0; k < together; ++k) made[k] =
                        detail::call_at<D...>(fn, n + k);
                    *reinterpret_cast<detail::Sixteen*>(first + n) =
                        *reinterpret_cast<const detail::Sixteen*>(made);
                }
                return;
            }
        }
#endif
#if NACELLE_GPU
        NACELLE_ROLLED for (int n = lane; n < size; n += lanes)(*this)[n] =
            detail::call_at<D...>(fn, n);
#else
        // Into a buffer first: a byte store may alias everything, so storing straight into the row
        // would reload all that fn reads for every element (half the speed).
        if (lane >= size) return;
        T buffer[size];
        int n = 0;
        detail::fill_nested<D...>(buffer, n, fn);
        for (int i = 0; i < size; ++i) (*this)[i] = buffer[i];
#endif
    }
    Array& operator=(const Array&) = delete;

    T* first;    // bound by the engine, as are the others
    uint32_t stride;
    uint16_t lane, lanes;
};

// A read-only array shared by all environments, a member of Params. It comes from a file named in
// the JSON or from prepare(). The first size may be `any`: then the file decides.
inline constexpr int any = 0;

template <class T, int First, int... D> struct Table {
    using element = T;
    static constexpr int row = detail::product<D...>;

    int size() const { return First ? First : count; }
    template <class... I> NACELLE_INLINE T operator()(int i, I... rest) const {
        detail::check_index("a Table", i, size());
        detail::check_position<D...>("a Table", rest...);
        const size_t n = size_t(uint32_t(i)) * uint32_t(row) + detail::position<D...>(rest...);
#if NACELLE_GPU
        return detail::read_only(first + n);
#else
        return first[n];
#endif
    }
    // Only in prepare(): element (i, j, k) = fn(i, j, k).
    template <class Fn> void fill(Fn&& fn) {
        T* const target = const_cast<T*>(first);
        for (int n = lane; n < size() * row; n += lanes)
            target[n] = detail::call_at<First, D...>(fn, n);
    }

    const T* first = nullptr;    // bound by the engine, as are the others
    int count = 0, lane = 0, lanes = 1;
};

}
