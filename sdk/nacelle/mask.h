#pragma once
#include <nacelle/device/reflect/leaves.h>

namespace nacelle {

// Which choices the policy may take: all, unless the environment forbids some.
template <class A> class Mask {
public:
    static constexpr int width = detail::choices_in<A>;

    explicit Mask(uint8_t* allowed) : allowed_(allowed) {
        for (int i = 0; i < width; ++i) allowed_[i] = 1;
    }
    // A part or a choice that is not there changes nothing; a checked build names the line.
    template <class F> NACELLE_INLINE void forbid(F A::*field, int choice) {
        const int begin = first<F>(field);
        if (is_choice<F>(choice)) allowed_[begin + choice] = 0;
    }
    template <class F, int N> NACELLE_INLINE void forbid(F (A::*field)[N], int part, int choice) {
        const int begin = first<F>(field);
        if (is_part<N>(part) && is_choice<F>(choice))
            allowed_[begin + part * F::choices + choice] = 0;
    }
    template <class F> NACELLE_INLINE void only(F A::*field, int choice) {
        const int begin = first<F>(field);
        if (is_choice<F>(choice)) keep(begin, F::choices, choice);
    }
    template <class F, int N> NACELLE_INLINE void only(F (A::*field)[N], int part, int choice) {
        const int begin = first<F>(field);
        if (is_part<N>(part) && is_choice<F>(choice))
            keep(begin + part * F::choices, F::choices, choice);
    }

private:
    // Where the choices of an action's field begin: found by the address of the field in an Action.
    template <class F, class P> static constexpr int first(P field) {
        static_assert(detail::form_of<F> == detail::Form::discrete,
                      "only a Discrete action can be masked");
        int n = 0, found = 0;
        A action{};
        detail::for_each_field(action, [&](auto, auto& f) {
            if (static_cast<const void*>(&f) == static_cast<const void*>(&(action.*field)))
                found = n;
            n += detail::choices_in<detail::bare<decltype(f)>>;
        });
        return found;
    }
    template <class F> static NACELLE_INLINE bool is_choice(int choice) {
        detail::check_masked("choice", choice, F::choices);
        return unsigned(choice) < unsigned(F::choices);
    }
    template <int N> static NACELLE_INLINE bool is_part(int part) {
        detail::check_masked("part", part, N);
        return unsigned(part) < unsigned(N);
    }
    void keep(int begin, int choices, int choice) {
        for (int i = 0; i < choices; ++i) allowed_[begin + i] = i == choice;
    }
    uint8_t* allowed_;
};

}
