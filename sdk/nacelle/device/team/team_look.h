#pragma once
#include <nacelle/device/episode/observation.h>
#include <nacelle/device/episode/run_clock.h>
#include <nacelle/device/team/local_team.h>
#include <nacelle/device/team/packed_rows.h>
// What the policies and a critic see of a team. On a GPU rows are staged in shared memory and stored from there
// by neighbouring threads: stored by each agent alone, their bytes would reach memory in pieces.

namespace nacelle::detail {

template <class E, class G>
inline constexpr bool row_in_place = TeamObsInto<E, G>&& all_floats<ObsOf<E, G>>;

// The author's observation of one member into a row of floats; `image` is the row of its arrays.
template <class E, class G>
NACELLE_INLINE void observe_member(const View<E>& view, const Team<E>& team, const Member<E, G>& me,
                                   const P<E>& params, bool final, size_t image, float* row) {
    using Obs = ObsOf<E, G>;
    if constexpr (row_in_place<E, G>) {
        E::observe(team, me, params, *reinterpret_cast<Obs*>(row));
    } else if constexpr (TeamObsInto<E, G>) {
        Obs obs;
        bind_images<E, G>(view, final, image, obs);
#ifdef NACELLE_CHECKED
        load_numbers(obs, row);
#endif
        E::observe(team, me, params, obs);
        store_numbers(obs, row);
    } else store_numbers(Obs{E::observe(team, me, params)}, row);
}

template <int width> NACELLE_INLINE bool row_is_finite(const float* row) {
    float zero = 0;    // NaN or infinity times zero is not zero
    for (int i = 0; i < width; ++i) zero = fused(row[i], 0.0f, zero);
    return zero == 0.0f;
}
template <class E, class G> NACELLE_INLINE uint32_t row_in_all(size_t env, int i) {
    return uint32_t(env) * uint32_t(agents_in_all<E>()) +
           uint32_t(agents_before<E>(group_index<E, G>())) + uint32_t(i);
}

// One member's row, zero where it was out before the step; i is its id.
template <class E, class G>
NACELLE_INLINE void look_member(const View<E>& view, const Team<E>& team, LocalTeam<E>& local,
                                bool final, int i, const Member<E, G>& me, float* row) {
    auto& members = local.memory.template group<G>();
    if (has_turn<E, G> && (turn_at(members, i) & was_out)) {
        NACELLE_ROLLED for (int k = 0; k < numbers_in<ObsOf<E, G>>; ++k) row[k] = 0;
        if constexpr (group_has_image<E, G>) {
            ObsOf<E, G> nothing;
            bind_images<E, G>(view, final, row_of<E, G>(local.env, i), nothing);
            for_each_element(nothing, [](auto, int, auto& f) {
                if constexpr (form_of<decltype(f)> == Form::array)
                    f.fill(typename Leaf<bare<decltype(f)>>::element{});
            });
        }
        return;
    }
    observe_member<E, G>(view, team, me, local.params(view), final, row_of<E, G>(local.env, i),
                         row);
}

#if NACELLE_GPU
// Floats leave a stage in pieces, mostly of 16 bytes. Where their place does not begin on 16 bytes, they lie as many
// floats behind the beginning of the stage.
template <int floats> struct alignas(4 * floats) Piece { float part[floats]; };
#if defined(__CUDACC_RTC__)
NACELLE_INLINE void send(Piece<4>& place, const Piece<4>& value) {
    store_streaming(reinterpret_cast<float4&>(place), reinterpret_cast<const float4&>(value));
}
NACELLE_INLINE void send(Piece<2>& place, const Piece<2>& value) {
    store_streaming(reinterpret_cast<float2&>(place), reinterpret_cast<const float2&>(value));
}
NACELLE_INLINE void send(Piece<1>& place, const Piece<1>& value) {
    store_streaming(place.part[0], value.part[0]);
}
#else
template <int floats> NACELLE_INLINE void send(Piece<floats>& place, const Piece<floats>& value) {
    place = value;
}
#endif
template <bool has_ends> NACELLE_INLINE int floats_behind(const float* to) {
    return has_ends ? int(reinterpret_cast<uint64_t>(to) / 4 % 4) : 0;
}
// `count` floats from shared memory to where they belong, by all threads of a unit. Gives whether all are finite.
template <class E, class G> NACELLE_INLINE bool send_off(const float* from, float* to, int count) {
    constexpr int unit = Shape<E>::unit;
    constexpr bool has_ends = Shape<E>::template has_ends<G>();
    constexpr int together = has_ends ? 4 : Shape<E>::template piece_of_all<G>();
    const int at = int(threadIdx.x) % unit;
    int head = 0;
    float zero = 0;
    if constexpr (has_ends) {
        head = min((4 - floats_behind<has_ends>(to)) % 4, count);
        const int rest = (count - head) % 4;
        NACELLE_ROLLED for (int i = at; i < head + rest; i += unit) {
            const int k = i < head ? i : count - rest + i - head;
            store_streaming(to[k], from[k]);
            zero = fused(from[k], 0.0f, zero);
        }
    }
    const auto send_piece = [&](int i) {
        const auto piece = reinterpret_cast<const Piece<together>*>(from + head)[i];
        send(reinterpret_cast<Piece<together>*>(to + head)[i], piece);
        NACELLE_UNROLL for (int k = 0; k < together; ++k) zero = fused(piece.part[k], 0.0f, zero);
    };
    // Four turns at once where there are that many: for two or three it was a twentieth to a sixth of a step's time.
    const int pieces = (count - head) / together;
    if constexpr (Shape<E>::template leaves_soon<G>(together))
        NACELLE_ROLLED for (int i = at; i < pieces; i += unit) send_piece(i);
    else NACELLE_FOURFOLD for (int i = at; i < pieces; i += unit) send_piece(i);
    return zero == 0.0f;
}
// What thread `other` of the unit has.
template <class E> NACELLE_INLINE uint32_t shown_by(uint32_t value, int other) {
    if constexpr (Shape<E>::unit == 1) return value;
    else
        return __shfl_sync(TeamThreads<E>::unit_mask(), value,
                           int(threadIdx.x) % 32 / Shape<E>::unit * Shape<E>::unit +
                               other % Shape<E>::unit);
}
// Where a row in the stage is not finite. Rare, so it is small and not fast.
template <class Action>
NACELLE_INLINE void note_bad_row(const ViewHead& head, uint64_t tick, uint32_t row, int width,
                                 const float* numbers, const Action& action) {
    NACELLE_ROLLED for (int i = 0; i < width; ++i) if (!finite(numbers[i])) return note_bad(
        head, Bad::obs, tick, row, action);
}

// Rows with gaps between them; `own` is where this thread's row goes. Neighbouring threads still write
// neighbouring numbers.
template <class E, int width>
NACELLE_INLINE bool send_scattered(const float* stage, float* rows, uint32_t own, int here) {
    constexpr int unit = Shape<E>::unit;
    const int numbers = here * width, at = int(threadIdx.x) % unit;
    float zero = 0;
    int row = at / width, column = at % width;
    NACELLE_ROLLED for (int base = 0; base < numbers; base += unit) {
        const uint32_t to = shown_by<E>(own, row);
        if (base + at < numbers) {
            const float one = stage[base + at];
            store_streaming(rows[to + uint32_t(column)], one);
            zero = fused(one, 0.0f, zero);
        }
        if constexpr (width >= unit) {
            column += unit;
            row += column >= width;
            column -= column >= width ? width : 0;
        } else {
            row = (base + unit + at) / width;
            column = (base + unit + at) % width;
        }
    }
    return zero == 0.0f;
}
// `here` rows in the stage leave it, those of an environment whose first row has this number in the group.
template <class E, class G, class Packed, class Pairs>
NACELLE_INLINE bool send_rows(const float* stage, float* rows, const Packed& packed, Pairs& pairs,
                              size_t first_row, uint32_t own, int first, int here) {
    constexpr int width = numbers_in<ObsOf<E, G>>;
    if constexpr (!same<Packed, Unpacked>)
        if (packed)
            return pairs.pack(packed, stage, here, [&](int r) {
                if constexpr (has_bins<E, G>)
                    return first_row + shown_by<E>(own, r) / uint32_t(width);
                else return first_row + size_t(first + r);
            });
    (void)packed, (void)pairs, (void)first_row;
    if constexpr (has_bins<E, G>) return send_scattered<E, width>(stage, rows, own, here);
    else {
        (void)own;
        return send_off<E, G>(stage, rows + size_t(first) * size_t(width), here * width);
    }
}
// So many of `here` rows have room in this unit's stage. Where that is not all of them it is a multiple of
// four, so that rows leave it in whole packets.
template <class E, int width> NACELLE_INLINE int rows_with_room(int here) {
    if constexpr (!Shape<E>::some_in_place) return here;
    else {
        const int before = int(threadIdx.x) / Shape<E>::unit * Shape<E>::stage,
                  fit = max((Shape<E>::stages / 4 - before - Shape<E>::spare) / width, 0);
        return fit >= here ? here : fit / 4 * 4;
    }
}
template <class E, class G, class Packed, class Pairs>
NACELLE_INLINE void look_round(const View<E>& view, uint64_t tick, const Team<E>& team,
                               LocalTeam<E>& local, bool final, float* rows, const Packed& packed,
                               Pairs& pairs, int first, int here) {
    constexpr int width = numbers_in<ObsOf<E, G>>;
    auto& members = local.memory.template group<G>();
    constexpr bool has_ends = Shape<E>::template has_ends<G>();
    float* const stage =
        stage_of<E>() + floats_behind<has_ends>(rows + size_t(first) * size_t(width));
    const int at = int(threadIdx.x) % Shape<E>::unit, gathered = rows_with_room<E, width>(here),
              i = at < here ? visited_at(members, first + at) : 0;
    const bool in_place = Shape<E>::some_in_place && at >= gathered && at < here;
    float* const own = in_place ? rows + i * width : stage + at * width;
    if (at < here)
        look_member<E, G>(view, team, local, final, i, visited_member(members, first + at), own);
    TeamThreads<E>::sync_unit();
    if (!send_rows<E, G>(stage, rows, packed, pairs, row_of<E, G>(local.env, 0),
                         uint32_t(i * width), first, gathered))
        NACELLE_ROLLED for (int k = 0; k < gathered; ++k) note_bad_row(
            view.head, tick, row_in_all<E, G>(local.env, visited_at(members, first + k)), width,
            stage + k * width, visited_member(members, first + k).action);
    if (in_place && !row_is_finite<width>(own))
        note_bad(view.head, Bad::obs, tick, row_in_all<E, G>(local.env, i),
                 visited_member(members, first + at).action);
    if constexpr (!same<Packed, Unpacked> && Shape<E>::some_in_place)
        if (in_place && packed) pack_row(packed, row_of<E, G>(local.env, i), own);
    TeamThreads<E>::sync_unit();
}
// The rows of a group to `rows`, in rounds of as many as the stage holds.
template <class E, class G, int staged, class Packed>
NACELLE_INLINE void look_staged(const View<E>& view, uint64_t tick, const Team<E>& team,
                                LocalTeam<E>& local, bool final, float* rows,
                                const Packed& packed) {
    constexpr int count = count_of<E, G>, unit = Shape<E>::unit;
    const int at = int(threadIdx.x) % unit;
    OwnPairs<Packed, unit> pairs(packed);
    NACELLE_ROLLED for (int base = local.threads.lane - at; base < count;
                        base += TeamThreads<E>::lanes) {
        const int end = min(base + unit, count);
        if constexpr (staged >= unit || staged >= count)
            look_round<E, G>(view, tick, team, local, final, rows, packed, pairs, base, end - base);
        else
            NACELLE_ROLLED for (int first = base; first < end; first += staged)
                look_round<E, G>(view, tick, team, local, final, rows, packed, pairs, first,
                                 min(staged, end - first));
    }
}
#endif
// Each agent stores its own row.
template <class E, class G, class Packed>
NACELLE_INLINE void look_alone(const View<E>& view, uint64_t tick, const Team<E>& team,
                               LocalTeam<E>& local, bool final, float* rows, const Packed& packed) {
    constexpr int width = numbers_in<ObsOf<E, G>>;
    constexpr bool apart = NACELLE_GPU && leaves_alone(width);
    local.threads.template spread_over<count_of<E, G>>([&](int i) {
        alignas(16) float own[apart ? width : 1];
        float* const row = rows + size_t(i) * size_t(width);
        float* const seen = apart ? own : row;
        look_member<E, G>(view, team, local, final, i,
                          member_of(local.memory.template group<G>(), i), seen);
        if constexpr (!same<Packed, Unpacked>)
            if (packed) pack_row(packed, row_of<E, G>(local.env, i), seen);
        if (apart && !packed) store_row_of_floats<apart ? width : 0>(own, row);
        if (!row_is_finite<width>(seen))
            note_bad(view.head, Bad::obs, tick, row_in_all<E, G>(local.env, i),
                     member_of(local.memory.template group<G>(), i).action);
    });
}
// The rows of a group to `to`, where those of environment 0 begin, or packed; then what lies at `to` is of no use.
template <class E, class G, class Packed>
NACELLE_INLINE void look_group(const View<E>& view, uint64_t tick, const Team<E>& team,
                               LocalTeam<E>& local, bool final, float* to, const Packed& packed) {
    constexpr int width = numbers_in<ObsOf<E, G>>;
    float* const rows = to + row_of<E, G>(local.env, 0) * size_t(width);
#if NACELLE_GPU
    constexpr int staged = Shape<E>::template rows_at_once<G>();
    if constexpr (staged > 0)
        look_staged<E, G, staged>(view, tick, team, local, final, rows, packed);
    else look_alone<E, G>(view, tick, team, local, final, rows, packed);
#else
    look_alone<E, G>(view, tick, team, local, final, rows, packed);
#endif
}

// What each agent may do next. Masks of agents that do not act are not written, since none is read.
template <class E, class G>
NACELLE_INLINE void mask_group(const View<E>& view, const Team<E>& team, LocalTeam<E>& local) {
    if constexpr (has_mask<E, G>) {
        constexpr int width = choices_in<ActionOf<E, G>>;
        auto* const masks = group_column<E, uint8_t, Role::mask, group_index<E, G>()>(view);
        auto& members = local.memory.template group<G>();
        local.threads.template spread_over<count_of<E, G>>([&](int i) {
            Mask<ActionOf<E, G>> mask(masks + row_of<E, G>(local.env, i) * size_t(width));
            if ((turn_at(members, i) & 3) == uint8_t(Turn::acts))
                E::mask(team, member_of(members, i), local.params(view), mask);
        });
    }
}
template <class E, class Record>
NACELLE_INLINE void overview_team(const View<E>& view, const Team<E>& team, LocalTeam<E>& local,
                                  bool final, const Record& record, int t) {
    if constexpr (!same<GlobalOf<E>, None>) {
        if (!local.is_first() || (final && !keeps_overviews<Record>)) return;
        const GlobalOf<E> overview = E::overview(team, local.params(view));
        if (!final) return keep_overview<E>(view, local.env, overview, record, t);
        if constexpr (keeps_overviews<Record>)
            store_numbers(overview, record.overview(local.env, t, true));
    }
    (void)view, (void)team, (void)local, (void) final, (void)record, (void)t;
}

}
