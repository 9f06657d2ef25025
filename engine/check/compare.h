#pragma once
#include "engine/env/environment.h"

namespace nacelle {

// Environments of two batches that should be alike: `count` of them, from these on.
struct Stretch {
    uint32_t first = 0, other_first = 0, count = 0;
};

// The first element that differs in any bit, in words ("state.x of environment 3: 0.5 and 0.25"),
// or an empty text. `wanted` picks the arrays; sums of statistics are left out of what is not
// whole.
std::string difference(Environment& a, Environment& b, const Stretch& stretch,
                       const std::function<bool(const Field&)>& wanted = {});
// The same for two whole batches.
std::string difference(Environment& a, Environment& b,
                       const std::function<bool(const Field&)>& wanted = {});

// Of two whole batches, how many elements differ by more than `tolerance` (absolute for numbers
// below 1, relative above), and the first of them in words.
struct Deviation {
    uint64_t elements = 0, apart = 0;
    std::string first;
};
Deviation deviation(Environment& a, Environment& b, double tolerance);

// The first number of a role that is 0 in `zeroes` and 1 in `ones`, as fill_role() left it, or
// empty.
std::string left_alone(Environment& zeroes, Environment& ones, Role role);
// Every number of the arrays of a role becomes this one.
void fill_role(Environment& env, Role role, double value);
// Copies what makes up an environment, and its counters, from one batch to another.
void copy_states(Environment& from, Environment& to);
void copy_array(Environment& from, Environment& to, const std::string& name);

}
