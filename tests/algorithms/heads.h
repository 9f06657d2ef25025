#pragma once
#include "tests/algorithms/formulas.h"
#include "tests/support/random.h"

#include <algorithm>
#include <learn/formulas/heads.h>

// Actions of every kind and the heads that make them, for the tests of both.
namespace nacelle::test {

struct Single {
    Discrete<6> go;
};
struct Several {
    Discrete<3> first;
    Discrete<5> more[2];
};
struct Real {
    Continuous<-2, 3> push;
    Continuous<> trim[2];
};
struct Both {
    Continuous<0, 10> push;
    Discrete<4> gear;
    Continuous<> trim;
    Discrete<2> lights;
};
struct Free {
    static constexpr bool squashed = false;
    static constexpr learn::Deviation deviation = learn::Deviation::free;
};
struct FromState {
    static constexpr bool squashed = false;
    static constexpr learn::Deviation deviation = learn::Deviation::from_state;
};
struct Squashed {
    static constexpr bool squashed = true;
    static constexpr learn::Deviation deviation = learn::Deviation::free;
};

// Random numbers for a head outside of any rollout.
struct Bits {
    Rng rng;
    uint32_t bits() { return rng.bits(); }
    uint32_t noise() { return rng.bits(); }
};

inline HeadForm form_of(const Single*) { return {{{6}}, false, true}; }
inline HeadForm form_of(const Several*) { return {{{3}, {5}, {5}}, false, true}; }
inline HeadForm form_of(const Real*) { return {{{0, -2, 3}, {0}, {0}}, false, true}; }
inline HeadForm form_of(const Both*) { return {{{0, 0, 10}, {4}, {0}, {2}}, false, true}; }

template <class A, class S> struct Trial {
    using Head = learn::Head<A, S>;
    HeadForm form = form_of(static_cast<const A*>(nullptr));
    std::vector<float> out;
    std::vector<uint8_t> mask;

    // Outputs of some size; `open` is the chance of a choice to be open, 2: there is no mask.
    Trial(Dice& dice, float size, double open) {
        form.squashed = S::squashed;
        form.free_deviation = S::deviation == learn::Deviation::free;
        for (size_t i = 0; i < form.outputs(); ++i) out.push_back(dice.uniform(-size, size));
        for (const Part& part : form.parts) {
            if (part.choices == 0 || open > 1) continue;
            const int sure = dice.below(part.choices);
            for (int i = 0; i < part.choices; ++i) mask.push_back(i == sure || dice.chance(open));
        }
    }
    const uint8_t* masked() const { return mask.empty() ? nullptr : mask.data(); }
    bool open(size_t choice) const { return mask.empty() || mask[choice]; }
    double log_deviation(size_t real) const {
        return std::clamp(double(out[form.choices() + form.reals() + real]), -10.0, 2.0);
    }
    // fn(part, its first output, its first choice of the mask, how many real parts came before)
    template <class Fn> void each_part(Fn&& fn) const {
        size_t first = 0, base = 0, real = 0;
        for (size_t p = 0; p < form.parts.size(); ++p) {
            fn(p, first, base, real);
            const size_t choices = size_t(form.parts[p].choices);
            first += choices ? choices : 1;
            base += choices;
            real += choices == 0;
        }
    }
    // A choice that the head could have drawn.
    std::vector<float> plausible(Dice& dice) const {
        std::vector<float> choice(form.parts.size());
        each_part([&](size_t p, size_t first, size_t base, size_t real) {
            const int choices = form.parts[p].choices;
            if (choices == 0) {
                choice[p] = out[first] + dice.uniform(-3, 3) * float(std::exp(log_deviation(real)));
                return;
            }
            int i = 0;
            do i = dice.below(choices);
            while (!open(base + size_t(i)));
            choice[p] = float(i);
        });
        return choice;
    }
};

// fn.template operator()<action, head>() for all kinds.
template <class Fn> void each_head(Fn&& fn) {
    fn.template operator()<Single, Free>();
    fn.template operator()<Several, Free>();
    fn.template operator()<Real, Free>();
    fn.template operator()<Real, FromState>();
    fn.template operator()<Real, Squashed>();
    fn.template operator()<Both, Free>();
    fn.template operator()<Both, Squashed>();
}

}
