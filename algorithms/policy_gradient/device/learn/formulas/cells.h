#pragma once
#include <nacelle/platform.h>
// The kinds of a network's hidden layers. Host and device share this text.
//
// `linear` is a matrix, a bias and the activation. The others remember, each neuron a number h from step to step, with
// x a row's inputs, s the logistic function and f the policy's activation:
//
//   mingru   z = s(Wz x + bz), c = f(Wc x + bc), h' = h + z (c - h)                    (Feng and others, 2024)
//   gru      r = s(Wr x + br + Ur h + cr), z = s(Wz x + bz + Uz h + cz),
//            n = tanh(Wn x + bn + r (Un h + cn)), h' = n + z (h - n)                   (Cho and others, 2014)
//
// The first one's gates do not see h, so that all steps of a sequence go through its matrix at once.

namespace learn {

enum class Cell : int32_t { linear, mingru, gru };

constexpr const char* cell_name(Cell cell) {
    return cell == Cell::gru ? "gru" : cell == Cell::mingru ? "mingru" : "linear";
}
constexpr bool remembers(Cell cell) { return cell != Cell::linear; }
// What a layer computes of its inputs for each neuron, gate by gate.
constexpr int gates_of(Cell cell) { return cell == Cell::gru ? 3 : cell == Cell::mingru ? 2 : 1; }
// A layer's matrices: of its inputs, and of what it remembers.
constexpr int matrices_of(Cell cell) { return cell == Cell::gru ? 2 : 1; }

// Outputs of so many inputs: weights [out][in], then biases [out].
struct MatrixSize {
    int64_t in, out;
};
constexpr int64_t parameters_in(const MatrixSize& matrix) { return (matrix.in + 1) * matrix.out; }

// Floats that a CPU keeps of each row of a sequence on its way forward and back: at every level its outputs, what went
// into the activation, and slopes; of a layer that remembers its gates and their slopes, of a gru also the gates of
// what it remembers, their slopes, and that itself.
constexpr int64_t room_for(int64_t width) { return (width + 15) / 16 * 16; }
constexpr int64_t cell_floats(Cell cell, int64_t neurons) {
    const int64_t gates = room_for(gates_of(cell) * neurons);
    return cell == Cell::linear   ? 0
           : cell == Cell::mingru ? 2 * gates
                                  : 4 * gates + room_for(neurons);
}
template <class Widths, class Cells>
constexpr int64_t sequence_floats(const Widths& width, const Cells& cell, int layers) {
    int64_t floats = 3 * room_for(width[0]);
    for (int l = 0; l < layers; ++l)
        floats += 3 * room_for(width[l + 1]) + cell_floats(cell[l], width[l + 1]);
    return floats;
}
// Of the sequences that it takes together: their rows, what they remember where they begin, and where they forget.
inline constexpr int sequences_together = 8;
constexpr int64_t slot_floats(int64_t row_floats, int64_t memory, int64_t steps) {
    return room_for((row_floats * steps + memory + steps) * sequences_together);
}

constexpr MatrixSize matrix_of(Cell cell, int number, int64_t in, int64_t out) {
    return {number == 0 ? in : out, gates_of(cell) * out};
}

}
