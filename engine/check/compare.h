#pragma once
#include "engine/env/environment.h"

namespace nacelle {

// A range of environments in each of two batches: `count` of them, from these on.
struct EnvRange {
    uint32_t first = 0, other_first = 0, count = 0;
};

// The first element that differs in any bit, in words ("state.x of environment 3: 0.5 and 0.25"), or an empty text.
// `wanted` selects arrays; sums of statistics are left out where the range is not the whole batch.
std::string difference(Environment& a, Environment& b, const EnvRange& range,
                       const std::function<bool(const Field&)>& wanted = {});
// The same for two whole batches.
std::string difference(Environment& a, Environment& b,
                       const std::function<bool(const Field&)>& wanted = {});

// The number of elements of two whole batches that differ by more than `tolerance` (absolute for numbers below 1,
// else relative), and the first one in words.
struct Mismatches {
    uint64_t elements = 0, apart = 0;
    std::string first;
};
Mismatches count_mismatches(Environment& a, Environment& b, double tolerance);

// The first number of a role that still has the value that fill_role() gave it: 0 in `zeroes` and 1 in `ones`; or an
// empty text.
std::string unwritten(Environment& zeroes, Environment& ones, Role role);
// Sets every number in the arrays of a role.
void fill_role(Environment& env, Role role, double value);
// Copies the state and the counters of all environments from one batch to another.
void copy_states(Environment& from, Environment& to);
void copy_array(Environment& from, Environment& to, const std::string& name);

}
