#pragma once
#include <nacelle/device/episode/fault.h>
#include <nacelle/device/team/team_threads.h>
// In a checked build a phase sees others as they were when it began, and may write what is its own alone.
// Whoever reads what somebody writes in the same phase then gets other numbers than in the usual build,
// and whoever writes what is not his own is told so. All other builds have none of this.

#if defined(NACELLE_CHECKED) && !NACELLE_GPU

#include <cstring>

namespace nacelle::detail {

enum class Phase : uint8_t { each, once, over, sort };

template <class T> constexpr size_t array_bytes() {
    if constexpr (form_of<T> == Form::array)
        return sizeof(typename Leaf<T>::element) * size_t(Leaf<T>::count);
    else if constexpr (form_of<T> == Form::list)
        return size_t(Leaf<T>::count) * array_bytes<typename Leaf<T>::element>();
    else if constexpr (form_of<T> == Form::record) {
        size_t bytes = 0;
        T object{};
        for_each_field(object, [&](auto, auto& f) { bytes += array_bytes<bare<decltype(f)>>(); });
        return bytes;
    } else return 0;
}
// fn(array) for every Array in an object.
template <class T, class Fn> void for_each_array(T& object, Fn&& fn) {
    if constexpr (array_bytes<bare<T>>() > 0)
        for_each_element(object, [&](auto, int, auto& f) {
            if constexpr (form_of<decltype(f)> == Form::array) fn(f);
        });
}

// Bytes that go with what holds them. <memory> has the same, at twice the time that a checked build takes to compile.
class Bytes final {
public:
    explicit Bytes(size_t size) : first_(new unsigned char[size]) {}
    Bytes(const Bytes&) = delete;
    Bytes& operator=(const Bytes&) = delete;
    ~Bytes() { delete[] first_; }
    unsigned char* get() const { return first_; }

private:
    unsigned char* first_;
};

// A copy of a team, with the contents of its arrays.
template <class E> class TeamCopy {
    template <class G> using FieldsOf = typename GroupParts<E, G>::Fields;
    static constexpr size_t arena_bytes() {
        size_t bytes = array_bytes<StateOf<E>>();
        for_each_group<E>(
            [&]<class G, int>() { bytes += size_t(count_of<E, G>) * array_bytes<FieldsOf<G>>(); });
        return bytes;
    }

public:
    TeamMemory<E>& team() { return *reinterpret_cast<TeamMemory<E>*>(memory_.get()); }

    void take(const TeamMemory<E>& from) {
        std::memcpy(memory_.get(), &from, sizeof from);
        unsigned char* at = arena_.get();
        for_each_array(team().state, [&](auto& array) { keep(array, at); });
        for_each_group<E>([&]<class G, int>() {
            for (auto& member : team().template group<G>().member)
                for_each_array(static_cast<FieldsOf<G>&>(member),
                               [&](auto& array) { keep(array, at); });
        });
    }
    template <class G> void take_member(const Member<E, G>& from, int i) {
        Member<E, G>& own = member_of(team().template group<G>(), i);
        copy_arrays<G>(from, own);
        copy_plain<G>(from, own);
    }
    template <class G> bool same_member(const Member<E, G>& other, int i) {
        return same_fields<G>(other, member_of(team().template group<G>(), i));
    }
    bool same_state(const TeamMemory<E>& other) { return same_objects(other.state, team().state); }

private:
    template <class A> static void keep(A& array, unsigned char*& at) {
        using T = typename A::element;
        T* const copy = reinterpret_cast<T*>(at);
        for (int i = 0; i < A::size; ++i) copy[i] = array[i];
        array.first = copy;
        array.stride = 1;
        at += sizeof(T) * size_t(A::size);
    }
    template <class G> static void copy_arrays(const FieldsOf<G>& from, FieldsOf<G>& to) {
        if constexpr (array_bytes<FieldsOf<G>>() > 0)
            pair_arrays(const_cast<FieldsOf<G>&>(from), to, [](auto& a, auto& b) {
                for (int i = 0; i < a.size; ++i) b[i] = a[i];
                return true;
            });
    }
    template <class G> static void copy_plain(const Member<E, G>& from, Member<E, G>& to) {
        // All but the handles of arrays, which stay the copy's own.
        for_each_plain<FieldsOf<G>>(const_cast<Member<E, G>&>(from), to, [](auto& a, auto& b) {
            std::memcpy(&b, &a, sizeof a);
            return true;
        });
        to.id = from.id;
        std::memcpy(&to.action, &from.action, sizeof from.action);
        to.reward = from.reward;
        to.acts = from.acts;
    }
    template <class G> static bool same_fields(const Member<E, G>& a, const Member<E, G>& b) {
        const FieldsOf<G>&fields = a, &others = b;
        return a.id == b.id && std::memcmp(&a.action, &b.action, sizeof a.action) == 0 &&
               std::memcmp(&a.reward, &b.reward, sizeof a.reward) == 0 && a.acts == b.acts &&
               same_objects(fields, others);
    }
    template <class T> static bool same_objects(const T& a, const T& b) {
        bool equal = true;
        for_each_plain<T>(const_cast<T&>(a), const_cast<T&>(b), [&](auto& x, auto& y) {
            equal = equal && std::memcmp(&x, &y, sizeof x) == 0;
            return equal;
        });
        if constexpr (array_bytes<T>() > 0)
            pair_arrays(const_cast<T&>(a), const_cast<T&>(b), [&](auto& x, auto& y) {
                for (int i = 0; equal && i < x.size; ++i)
                    equal = std::memcmp(&x[i], &y[i], sizeof x[i]) == 0;
                return equal;
            });
        return equal;
    }
    // fn(a's element, b's element) for every number, and for every Array, of two objects of one type.
    template <class T, class Fn> static void for_each_plain(T& a, T& b, Fn fn) {
        const char* const base = reinterpret_cast<const char*>(&a);
        for_each_element(a, [&](auto, int, auto& f) {
            using F = bare<decltype(f)>;
            if constexpr (form_of<F> != Form::array) fn(f, other_of<F>(f, base, b));
        });
    }
    template <class T, class Fn> static void pair_arrays(T& a, T& b, Fn fn) {
        const char* const base = reinterpret_cast<const char*>(&a);
        for_each_element(a, [&](auto, int, auto& f) {
            using F = bare<decltype(f)>;
            if constexpr (form_of<F> == Form::array) fn(f, other_of<F>(f, base, b));
        });
    }
    template <class F, class T> static F& other_of(const F& f, const char* base, T& b) {
        return *reinterpret_cast<F*>(reinterpret_cast<char*>(&b) +
                                     (reinterpret_cast<const char*>(&f) - base));
    }

    Bytes memory_{sizeof(TeamMemory<E>)}, arena_{arena_bytes() + 1};
};

// How the team was when the phase began, and how each member was left by its own call.
template <class E> struct Frozen {
    struct Copies {
        TeamCopy<E> before, after;
    };
    static Copies& copies() {
        static thread_local Copies both;
        return both;
    }
};

inline void check_outside(bool inside) {
    if (inside)
        fault("a phase (each, once, over, sort) or a question (sum, count, any, first, best) began "
              "inside another phase: end the first one before");
}
template <class E> void freeze(Frozen<E>& frozen, const TeamMemory<E>& memory) {
    frozen.copies().before.take(memory);
    frozen.copies().after.take(memory);
}
template <class E>
const TeamMemory<E>& shown(Frozen<E>& frozen, const TeamMemory<E>& memory, bool inside) {
    return inside ? frozen.copies().before.team() : memory;
}
template <class E> void check_phase(Frozen<E>& frozen, TeamMemory<E>& memory, Phase phase) {
    auto& copies = frozen.copies();
    for_each_group<E>([&]<class G, int>() {
        for (int i = 0; i < count_of<E, G>; ++i)
            if (!copies.after.template same_member<G>(member_of(memory.template group<G>(), i), i))
                fault(
                    phase == Phase::each
                        ? "a phase 'each' wrote the member of another agent: an agent writes its "
                          "own "
                          "member alone; let the other one find out what it needs in its own call"
                        : "a phase 'once', 'over' or 'sort' wrote a member: members are written in "
                          "'each'");
    });
    if ((phase == Phase::each || phase == Phase::sort) && !copies.before.same_state(memory))
        fault("a phase 'each' or 'sort' wrote State: State is written in 'once' and 'over' alone");
}
// While agent i's call of `each` runs.
template <class E, class G> struct OwnOnly {
    OwnOnly(Frozen<E>& frozen, TeamMemory<E>& memory, int i)
        : frozen_(frozen), me_(member_of(memory.template group<G>(), i)), i_(i) {
        if (!frozen.copies().after.template same_member<G>(me_, i))
            fault(
                "a phase 'each' wrote the member of another agent: an agent writes its own member "
                "alone; let the other one find out what it needs in its own call");
    }
    ~OwnOnly() { frozen_.copies().after.template take_member<G>(me_, i_); }

private:
    Frozen<E>& frozen_;
    const Member<E, G>& me_;
    int i_;
};

}

#else

namespace nacelle::detail {

enum class Phase : uint8_t { each, once, over, sort };
template <class E> struct Frozen {};
template <class E, class G> struct OwnOnly {
    constexpr OwnOnly(Frozen<E>&, TeamMemory<E>&, int) {}
};
constexpr void check_outside(bool) {}
template <class E> constexpr void freeze(Frozen<E>&, const TeamMemory<E>&) {}
template <class E>
constexpr const TeamMemory<E>& shown(Frozen<E>&, const TeamMemory<E>& memory, bool) {
    return memory;
}
template <class E> constexpr void check_phase(Frozen<E>&, TeamMemory<E>&, Phase) {}

}

#endif
