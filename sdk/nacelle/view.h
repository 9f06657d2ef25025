#pragma once
#include <nacelle/device/reflect/describe.h>
// What kernels see of an environment: the arrays' addresses, the parameters, the seed and the clock.
// On a GPU it lies in constant memory, so that the host can change a parameter between two launches
// of a captured graph; on a CPU kernels get a pointer to it.

namespace nacelle {

namespace detail {
// The kinds of numbers that are not finite, causes before effects.
enum class Bad : uint32_t { action, reward, obs };
inline constexpr uint32_t bad_row_bits = 30;
}

// The clock and the first value that was not finite, which every step reads together. `bad` is
// tick << 32 | kind << bad_row_bits | row; the smallest wins, all ones: none. Once it is set, later
// steps do nothing, so that the arrays still show the offender.
struct alignas(16) RunClock {
    uint64_t tick;    // since the beginning; every launch that draws numbers has its own
    uint64_t bad;
};

// How a varied parameter is drawn at each reset.
struct Draw {
    enum Form : int32_t { fixed, uniform, log_uniform, normal, choice };
    int32_t form;
    int32_t count;      // choice
    float a, b;         // the value; low and high; mean and deviation
    float value[16];    // choice
};

struct ViewHead {
    uint64_t seed;
    RunClock* clock;
    const Draw* draws;     // one per element of a varied parameter, in the order of their slots
    uint32_t envs;         // of this view
    uint32_t first_env;    // the number of its first one in the whole run
    uint32_t levels;       // episodes take a level below this; 0: any 31-bit number
    uint32_t pool_size;    // snapshots that resets may start from
    float pool_chance;
    float progress_per_tick;
    uint32_t
        prefetch;    // a step fetches the state of the environment this far behind its own; 0: none
    float progress_from;    // at tick 0
    void* workspace;    // where teams step that do not fit into shared memory; null where they do
};

template <class E> struct View {
    ViewHead head;
    ParamsOf<E> params;
    void* array[detail::description<E>.header.slots];
    void*
        pool[detail::description<E>.header.slots];    // snapshots, for the fields that are in them
};
static_assert(sizeof(ViewHead) == 64);

namespace detail {

constexpr uint32_t aligned(size_t offset, size_t alignment) {
    return uint32_t((offset + alignment - 1) / alignment * alignment);
}

template <class E> constexpr void complete(Header& h) {
    h.view_size = sizeof(View<E>);
    h.head_size = sizeof(ViewHead);
    h.params_offset = aligned(sizeof(ViewHead), alignof(ParamsOf<E>));
    h.array_offset = aligned(h.params_offset + sizeof(ParamsOf<E>), alignof(void*));
    h.pool_offset = h.array_offset + uint32_t(sizeof(void*)) * h.slots;
    h.block_threads = uint32_t(Shape<E>::threads);
    h.env_threads = uint32_t(Shape<E>::lanes);
    h.shared_bytes = uint32_t(Shape<E>::shared_bytes);
    h.workspace_bytes = uint32_t(Shape<E>::workspace);
    h.cluster_blocks = uint32_t(Shape<E>::blocks);
}
template <class E> constexpr bool is_view_plain() {
    Header h{};
    h.slots = description<E>.header.slots;
    complete<E>(h);
    return h.pool_offset + sizeof(void*) * h.slots == h.view_size;
}
template <class E, int L> constexpr auto named_schema(const char (&name)[L]) {
    static_assert(L <= 64, "an environment's name must have fewer than 64 characters");
    static_assert(is_view_plain<E>(), "Params is aligned beyond 8 bytes");
    auto s = description<E>;
    complete<E>(s.header);
    for (int i = 0; i < L; ++i) s.header.name[i] = name[i];
    return s;
}

NACELLE_INLINE void prefetch(const void* address) {
#if defined(__CUDACC_RTC__)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#else
    (void)address;
#endif
}
// The array in a slot; null without a slot: an observation of images alone has none for numbers.
template <class T, int slot, class E> NACELLE_INLINE T* array_at(const View<E>& view) {
    if constexpr (slot < 0) return nullptr;
    else return static_cast<T*>(view.array[slot]);
}
template <class E, class T, Role role> NACELLE_INLINE T* column(const View<E>& view) {
    return array_at<T, slot_of<E>(role)>(view);
}
#define NACELLE_COLUMN(view, T, role, name) (static_cast<T*>((view).array[slot_of<E>(role, name)]))

// How one row of a struct's leaves lies in the columns from `slot` on. op(stored, value) for numbers
// and spaces; an Array is bound to its place, unless it is already.
template <class E, bool bound = false, class T, class Op>
NACELLE_INLINE void visit_row(void* const* arrays, int slot, size_t row, size_t rows, T& object,
                              Op op) {
    for_each_element(object, [&](auto leaf, int k, auto& f) {
        using L = Leaf<bare<decltype(f)>>;
        [[maybe_unused]] auto* const first = static_cast<typename L::element*>(arrays[slot + leaf]);
        if constexpr (L::form == Form::array && bound) return;
        else if constexpr (L::form == Form::array) {
            constexpr bool together = array_layout<E> == Layout::rows;
            f.first = together ? first + (row + size_t(k) * rows) * L::count
                               : first + size_t(k) * L::count * rows + row;
            f.stride = together ? 1u : uint32_t(rows);
            f.lane = 0;
            f.lanes = 1;
        } else if constexpr (L::form == Form::discrete || L::form == Form::continuous)
            op(first[size_t(k) * rows + row], f.value);
        else op(first[size_t(k) * rows + row], f);
    });
}
template <class E, class T>
NACELLE_INLINE void load_row(void* const* arrays, int slot, size_t row, size_t rows, T& object) {
    visit_row<E>(arrays, slot, row, rows, object,
                 [](auto& stored, auto& value) { value = stored; });
}
// Asks for the row's lines without waiting for them.
template <class E, class T>
NACELLE_INLINE void prefetch_row(void* const* arrays, int slot, size_t row, size_t rows, T& shape) {
    visit_row<E>(arrays, slot, row, rows, shape, [](auto& stored, auto&) { prefetch(&stored); });
}
template <class E, class T>
NACELLE_INLINE void bind_row(void* const* arrays, int slot, size_t row, size_t rows, T& object) {
    visit_row<E>(arrays, slot, row, rows, object, [](auto&, auto&) {});
}
template <class E, bool bound = false, class T>
NACELLE_INLINE void store_row(void* const* arrays, int slot, size_t row, size_t rows, T& object) {
    visit_row<E, bound>(arrays, slot, row, rows, object,
                        [](auto& stored, auto& value) { stored = value; });
}

}
}
