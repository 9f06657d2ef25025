#pragma once
#include <nacelle/device/episode/fault.h>

namespace nacelle {
namespace detail {

template <int... D> inline constexpr int product = (1 * ... * D);

#if NACELLE_GPU
template <int bytes> struct Unit { using type = uint8_t; };
template <> struct Unit<2> { using type = uint16_t; };
template <> struct Unit<4> { using type = uint32_t; };
template <> struct Unit<8> { using type = unsigned long long; };
// Elements side by side, put together in registers.
template <int count> struct alignas(count == 4 ? 16 : 4) Words {
    uint32_t word[count];

    // Element k of zeros becomes x.
    template <class T> NACELLE_INLINE void put(int k, T x) {
        constexpr int size = int(sizeof(T));
        const auto bits = __builtin_bit_cast(typename Unit<size>::type, x);
        if constexpr (size == 8) {
            word[2 * k] = uint32_t(bits);
            word[2 * k + 1] = uint32_t(bits >> 32);
        } else word[k * size / 4] |= uint32_t(bits) << (8 * (k * size % 4));
    }
};
// Bytes of one thread from anywhere on, stored as whole words but for the first and the last few: single bytes of one
// thread wait for each other. A word that other bytes share is not touched as a whole.
class WordWriter {
public:
    NACELLE_INLINE explicit WordWriter(void* to)
        : shift_(8 * uint32_t(reinterpret_cast<size_t>(to) % 4)),
          to_(static_cast<uint8_t*>(to) - shift_ / 8) {}
    // The next bytes. Only the last ones may end within a word.
    template <int bytes, int words> NACELLE_INLINE void put(const Words<words>& from) {
        NACELLE_UNROLL for (int w = 0; w < bytes / 4; ++w) {
            const uint64_t all = joined(from.word[w]);
            if (w == 0 && !began_) store(all, shift_ / 8, 4);
            else *reinterpret_cast<uint32_t*>(to_) = uint32_t(all);
            began_ = true;
            last_ = from.word[w];
            to_ += 4;
        }
        if constexpr (bytes % 4 > 0) {
            ending_ = from.word[bytes / 4];
            left_ = bytes % 4;
        }
    }
    NACELLE_INLINE void end() const { store(joined(ending_), 0, shift_ / 8 + left_); }

private:
    // From the next place on: what the last word left, then this one.
    NACELLE_INLINE uint64_t joined(uint32_t word) const {
        return (uint64_t(word) << 32 | last_) >> (32 - shift_);
    }
    NACELLE_INLINE void store(uint64_t all, uint32_t begin, uint32_t end) const {
        NACELLE_ROLLED for (uint32_t i = begin; i < end; ++i) to_[i] = uint8_t(all >> 8 * i);
    }
    uint32_t shift_, last_ = 0, ending_ = 0, left_ = 0;
    bool began_ = false;
    uint8_t* to_;
};
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
#if NACELLE_GPU
        // A store may alias what fn reads: some elements are made before the first of them is stored, so that no read
        // waits behind a store.
        if constexpr (size >= 4 * together)
            if (stride == 1) {
                if constexpr (size % together == 0)
                    if (is_on_sixteen()) return fill_by_sixteen(fn);
                if (lanes == 1) return fill_by_words(fn);
            }
        constexpr int rounds = size < 16 ? 1 : 4;
        int n = lane;
        NACELLE_ROLLED for (; n + (rounds - 1) * lanes < size; n += rounds * lanes) {
            T made[rounds];
            NACELLE_UNROLL for (int k = 0; k < rounds; ++k) made[k] =
                detail::call_at<D...>(fn, n + k * lanes);
            NACELLE_UNROLL for (int k = 0; k < rounds; ++k)(*this)[n + k * lanes] = made[k];
        }
        NACELLE_ROLLED for (; n < size; n += lanes)(*this)[n] = detail::call_at<D...>(fn, n);
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

private:
#if NACELLE_GPU
    static constexpr int together = 16 / int(sizeof(T));

    NACELLE_INLINE bool is_on_sixteen() const { return reinterpret_cast<size_t>(first) % 16 == 0; }
    // The bytes of elements n to n + count.
    template <int count, class Fn> static NACELLE_INLINE auto make(Fn& fn, int n) {
        detail::Words<(count * int(sizeof(T)) + 3) / 4> made{};
        NACELLE_UNROLL for (int k = 0; k < count; ++k)
            made.put(k, detail::call_at<D...>(fn, n + k));
        return made;
    }
    template <class Fn> NACELLE_INLINE void fill_by_sixteen(Fn& fn) {
        NACELLE_ROLLED for (int n = lane * together; n < size; n += lanes * together) *
            reinterpret_cast<detail::Words<4>*>(first + n) = make<together>(fn, n);
    }
    // By one thread, wherever its first element lies.
    template <class Fn> NACELLE_INLINE void fill_by_words(Fn& fn) {
        constexpr int left = size % together;
        detail::WordWriter writer(first);
        NACELLE_ROLLED for (int n = 0; n < size - left; n += together)
            writer.template put<16>(make<together>(fn, n));
        if constexpr (left > 0)
            writer.template put<left* int(sizeof(T))>(make<left>(fn, size - left));
        writer.end();
    }
#endif
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
