#pragma once
#include "engine/policy/policy_description.h"

#include <nacelle/random.h>

namespace nacelle {

// A row's outputs: number k lies at first[k * stride].
struct RowOutputs {
    const float* first;
    size_t stride;
    float operator[](size_t k) const { return first[k * stride]; }
};

// The random numbers of a row's choice at one step; those of noise stay the same for some steps.
class RowDice final {
public:
    RowDice(uint64_t seed, uint64_t step, uint32_t row, uint64_t noise_steps)
        : fresh_(seed, Domain::policy, step, row),
          held_(seed, Domain::policy, step / noise_steps, row, 1),
          holds_(noise_steps > 1) {}
    uint32_t bits() { return fresh_.bits(); }
    uint32_t noise() { return holds_ ? held_.bits() : fresh_.bits(); }

private:
    Rng fresh_, held_;
    bool holds_;
};

// The most probable action of a row, a float for each part. `mask` has a byte for each choice, or is null: all are
// open. Where none of a part's choices is open the first one is taken, as in training.
void choose_best(const PolicyDescription& description, const RowOutputs& outputs,
                 const uint8_t* mask, float* action);
// An action as it is drawn in training.
void choose_drawn(const PolicyDescription& description, const RowOutputs& outputs,
                  const uint8_t* mask, RowDice& dice, float* action);

}
