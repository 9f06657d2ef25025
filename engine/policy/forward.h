#pragma once
#include "engine/policy/policy_description.h"

namespace nacelle {

// A dense layer: weights [outputs][inputs], biases [outputs].
struct DenseLayer {
    const float *weights, *biases;
    size_t inputs, outputs;
};

// A block of rows on their way through a network. Numbers of the same neuron lie side by side, `stride` of them, so
// that several rows go through one instruction.
struct ForwardPass {
    static constexpr size_t most_rows = 32;

    const float* observations;    // [rows][inputs]
    size_t rows;                  // 1 to most_rows
    const float *mean, *scale;    // of each input; null: seen as they are
    float bound;                  // of a normalised number
    const DenseLayer* layers;     // a gru has two: of its inputs, and of what it remembers
    size_t layer_count;
    PolicyActivation activation;               // behind each layer but the last
    float* scratch;                            // scratch_floats() of its sizes, aligned to 64 bytes
    const PolicyEncoder* encoder = nullptr;    // convolutions in front of the layers; or null
    const DenseLayer* filters = nullptr;       // of each of them
    size_t seen = 0;                           // numbers of a row, where there are convolutions
    const PolicyCell* cells = nullptr;         // of each layer; null: all are linear
    float* memory = nullptr;    // [rows][remembered]: what they remember, and will from now on
    size_t remembered = 0;

    // Of the widest level, and of the most that a convolution's patch or a layer that remembers needs beside it.
    static constexpr size_t scratch_floats(size_t widest, size_t beside = 0) {
        return (2 * widest + beside) * most_rows;
    }
    // Gates of the inputs and of what is remembered, and that itself.
    static constexpr size_t beside_cell(size_t neurons) { return 7 * neurons; }
    size_t inputs() const { return encoder ? seen : layers[0].inputs; }
    size_t stride() const { return (rows + 7) / 8 * 8; }
};

// The last layer's outputs [outputs][stride], in the scratch memory. Takes the widest instructions that the
// processor has; the last bit of a number may depend on them.
const float* forward(const ForwardPass&);
// The same with what every processor of the architecture has.
const float* forward_anywhere(const ForwardPass&);

}
