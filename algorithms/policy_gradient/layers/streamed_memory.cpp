// Streamed policies that remember: how steps of a rollout and sequences go through their layers.
#include "algorithms/policy_gradient/layers/streamed_policy.h"

namespace learn {

// Agents of a step stand there twice where they learn; sequences lie there with all of their steps, at least a block of
// them however long they are.
void StreamedPolicy::plan_memory() {
    const auto whole = [](uint64_t rows) {
        return std::max<uint64_t>(whole_blocks(rows), product_rows);
    };
    const auto together = [&](uint64_t all, uint64_t rows_each) {
        const uint64_t most = room_ / rows_each / product_rows * product_rows;
        return uint32_t(std::min(whole(all), std::max<uint64_t>(most, product_rows)));
    };
    const uint64_t steps = settings_.sequence, sequences = settings_.horizon / steps * agents_;
    room_ = room_for(std::max(minibatch_ + steps * product_rows, 2 * whole(agents_)),
                     numbers_of_a_row() * 2);
    agents_together_ = together(agents_, 2);
    sequences_together_ = together(sequences / settings_.minibatches + 1, steps);
    room_ = 2 * agents_together_;
    if (!learns()) return;
    room_ = std::max(room_, uint32_t(sequences_together_ * steps));
}

void StreamedPolicy::make_memory() {
    for (size_t n = 0; n < networks_.size(); ++n) {
        Network& network = networks_[n];
        network.memory.resize(network.layers());
        uint32_t offset = n ? uint32_t(networks_[0].memory.back().offset) : 0;
        for (size_t l = 0; l < network.layers(); ++l) {
            CellRows& cell = network.memory[l];
            cell.offset = offset;
            if (!learn::remembers(network.cells[l])) continue;
            const bool gru = network.cells[l] == Cell::gru;
            const std::string name = (n ? "critic." : "actor.") + std::to_string(l + 1);
            const int64_t width = network.widths[l + 1], gates = gates_of(network.cells[l]) * width;
            const auto floats = [&](const char* which, uint64_t count) {
                return static_cast<float*>(array(name + "." + which, nacelle::Dtype::f32, count));
            };
            cell.neurons = uint32_t(width);
            offset += cell.neurons;
            cell.pitch = in_fours(uint64_t(gates));
            if (gru || policy_.planes > 1)
                cell.gates = floats("gates", uint64_t(room_) * cell.pitch);
            else cell.gate_values = rows_of(name + ".gates", gates);
            cell.out = network.seen[l + 1];
            cell.slopes = network.slopes[l + 1];
            if (learns()) cell.gate_slopes = rows_of(name + ".gate_slopes", gates);
            if (!gru) continue;
            const bool in_steps = learns() && !gru_room_of(cell.neurons);
            const uint64_t together = in_steps ? std::max(agents_together_, sequences_together_)
                                               : agents_together_,
                           rows = in_steps ? room_ : 2 * agents_together_;
            cell.more = floats("more", rows * cell.pitch);
            cell.h = floats("h", together * cell.neurons);
            cell.before = rows_of(name + ".before", width);
            cell.back_pitch = in_fours(uint64_t(width));
            cell.own = network.weights[network.first_matrix[l] + 1];
            cell.own_bias = network.biases[network.first_matrix[l] + 1];
            if (gru_room_of(cell.neurons) &&
                gru_sees(uint64_t(network.widths[l]), policy_.planes)) {
                cell.seen = network.seen[l];
                cell.seen_weights = network.weights[network.first_matrix[l]];
                cell.seen_bias = network.biases[network.first_matrix[l]];
                cell.inputs = uint32_t(network.widths[l]);
            }
            if (!learns()) continue;
            cell.more_slopes = rows_of(name + ".more_slopes", gates);
            if (in_steps) cell.back = floats("back", together * cell.back_pitch);
            else
                cell.kept = floats("kept", uint64_t(room_) * chunks_along(cell.neurons) * 8 *
                                               gru_kept_vectors(policy_.planes));
        }
    }
}

template <class Fn>
void StreamedPolicy::each_part(uint64_t sequences, uint32_t together, Fn&& fn) const {
    for (uint64_t first = 0; first < sequences; first += together)
        fn(uint32_t(first), uint32_t(std::min<uint64_t>(sequences - first, together)));
}
StreamArguments StreamedPolicy::with_sequences(const Arguments& a, uint32_t first, uint32_t count,
                                               uint32_t steps) const {
    const uint32_t across = uint32_t(whole_blocks(count));
    StreamArguments with = with_rows(a, {first, across * steps});
    with.stream.across = across;
    with.stream.count = count;
    with.stream.present = nullptr;    // all are there
    return with;
}

void StreamedPolicy::step_with_memory(const Arguments& a, Pass pass, void* stream) const {
    const bool last = pass == Pass::last_step;
    if (learns() && !last && a.step % a.sequence == 0)
        kernels_.launch("keep_begun", number_, with_rows(a, {0, 0}), stream,
                        agents_ * networks_.back().memory.back().offset);
    each_part(agents_, agents_together_, [&](uint32_t first, uint32_t count) {
        StreamArguments its = with_sequences(a, first, count, learns() ? 2 : 1);
        Products only{};
        if (learns()) {
            its.stream.present = stream_.present;
            only.present = stream_.present;
            launch("mark_step", its, stream);
        }
        launch("gather_remembering", its, stream);
        forward_with_memory(its, learns() ? Which::both : Which::actor, pass, only, stream);
        if (last) launch("keep_last_values", its, stream);
        else launch("choose_remembering", its, stream);
    });
}
void StreamedPolicy::act_with_memory(const Arguments& a, uint64_t agents, void* stream) const {
    each_part(agents, agents_together_, [&](uint32_t first, uint32_t count) {
        StreamArguments its = with_sequences(a, first, count, 1);
        its.stream.rows = count;
        launch("gather_now", its, stream);
        forward_with_memory(its, Which::actor, Pass::step, {}, stream);
        launch("act_streamed", its, stream);
    });
}
void StreamedPolicy::review_with_memory(const Arguments& a, void* stream) const {
    Arguments all = a;    // one minibatch of all sequences, in any order
    all.minibatch = 0;
    all.minibatches = 1;
    Products unless{};
    unless.found = a.policy[number_].found;
    each_part(a.steps / a.sequence * agents_, sequences_together_,
              [&](uint32_t first, uint32_t count) {
                  const StreamArguments its = with_sequences(all, first, count, a.sequence);
                  launch("gather_sequences", its, stream);
                  forward_with_memory(its, Which::both, Pass::sequences, unless, stream);
                  launch("review_remembering", its, stream);
              });
}
void StreamedPolicy::gradient_with_memory(const Arguments& a, uint64_t samples,
                                          void* stream) const {
    Products unless{};
    unless.found = a.policy[number_].found;
    each_part(samples / a.sequence, sequences_together_, [&](uint32_t first, uint32_t count) {
        const StreamArguments its = with_sequences(a, first, count, a.sequence);
        launch("gather_sequences", its, stream);
        forward_with_memory(its, Which::both, Pass::sequences, unless, stream);
        launch("slopes_streamed", its, stream);
        unless.adds = first > 0;
        backward_with_memory(its, unless, stream);
        sum_weights(its.stream.rows, unless, stream);
        convolve_back(its.stream.rows, unless, stream);
    });
    kernels_.launch("total_streamed", number_, with_rows(a, {0, 0}), stream, sum_blocks_);
}

void StreamedPolicy::forward_with_memory(const StreamArguments& a, Which which, Pass pass,
                                         Products with, void* stream) const {
    convolve(a.stream.rows, which, with, stream);
    for (size_t l = 0; l < networks_[0].layers(); ++l) {
        std::vector<Product> products;
        const bool keeps = learn::remembers(networks_[0].cells[l]);
        for (const Network* const network : networks(which)) {
            const size_t m = network->first_matrix[l];
            if (pass == Pass::sequences && network->memory[l].inputs) continue;
            Product& p = products.emplace_back(
                product_of(network->seen[l], network->weights[m], a.stream.rows,
                           uint64_t(network->matrices[m].out), uint64_t(network->widths[l])));
            p.bias = network->biases[m];
            if (keeps) {
                const CellRows& cell = network->memory[l];
                p.sums = cell.gates;
                p.pitch = cell.pitch;
                p.out = cell.gate_values;
                p.gated = cell.gates ? 0 : cell.neurons;
                continue;
            }
            p.out = network->seen[l + 1];
            p.kept = network->straight[l + 1];
            p.sums = l + 1 == network->layers() ? network->outputs : nullptr;
            p.pitch = network->pitch;
        }
        launch_by_width("forward_64", "forward_128", "forward_clusters", products, with, stream);
        for (const Network* const network : networks(which))
            if (keeps) remember(a, *network, l, pass, with, stream);
    }
}
// Rows of one step, from a matrix of all steps.
static TiledMatrix from_row(TiledMatrix matrix, uint64_t row) {
    matrix.at += row / tile_side * matrix.across * tile_numbers;
    return matrix;
}
void StreamedPolicy::remember(const StreamArguments& a, const Network& network, size_t l, Pass pass,
                              const Products& with, void* stream) const {
    const bool learning = pass == Pass::sequences;
    CellRows rows = network.memory[l];
    rows.lasting = pass == Pass::step;
    if (network.cells[l] == Cell::mingru) {
        if (learning) cell("mingru_forward", a, rows, stream, 4);
        else cell("mingru_once", a, rows, stream, 4);
        return;
    }
    if (learning && gru_room_of(rows.neurons))
        return through("gru_ahead_64", "gru_ahead_128", a, rows, stream);
    if (learning) cell("gru_begin", a, rows, stream);
    else cell("gru_begin_once", a, rows, stream);
    const size_t m = network.first_matrix[l] + 1;
    const uint32_t steps = learning ? a.all.sequence : 1,
                   count = learning ? a.stream.across : a.stream.rows;
    for (rows.step = 0; rows.step < steps; ++rows.step) {
        const uint64_t first = uint64_t(rows.step) * a.stream.across;
        Product p = product_of(from_row(rows.before, first), network.weights[m], count,
                               uint64_t(network.matrices[m].out), rows.neurons);
        p.bias = network.biases[m];
        p.sums = rows.more + first * rows.pitch;
        p.pitch = rows.pitch;
        launch_by_width("forward_64", "forward_128", "forward_clusters", {p}, with, stream);
        if (learning) cell("gru_forward", a, rows, stream);
        else cell("gru_once", a, rows, stream);
    }
}

const TiledMatrix& StreamedPolicy::top(const Network& network, size_t l) const {
    return learn::remembers(network.cells[l]) ? network.memory[l].gate_slopes
                                              : network.slopes[l + 1];
}
void StreamedPolicy::backward_with_memory(const StreamArguments& a, const Products& with,
                                          void* stream) const {
    for (size_t l = networks_[0].layers(); l-- > 0;) {
        std::vector<Product> products;
        for (const Network& network : networks_) {
            if (learn::remembers(network.cells[l])) remember_backward(a, network, l, with, stream);
            if (l == 0 && !convolves()) continue;
            const size_t m = network.first_matrix[l];
            Product& p = products.emplace_back(
                product_of(top(network, l), network.weights[m], a.stream.rows,
                           uint64_t(network.widths[l]), uint64_t(network.matrices[m].out)));
            p.out = network.slopes[l];
            if (l == 0 || !learn::remembers(network.cells[l - 1]))
                p.kept = policy_.keeps_input() ? network.straight[l] : network.seen[l];
        }
        launch_by_width("backward_64", "backward_128", "backward_clusters", products, with, stream);
    }
}
void StreamedPolicy::remember_backward(const StreamArguments& a, const Network& network, size_t l,
                                       const Products& with, void* stream) const {
    CellRows rows = network.memory[l];
    if (network.cells[l] == Cell::mingru) {
        cell("mingru_backward", a, rows, stream, 4);
        return;
    }
    if (gru_room_of(rows.neurons)) return through("gru_back_64", "gru_back_128", a, rows, stream);
    const size_t m = network.first_matrix[l] + 1;
    for (rows.step = a.all.sequence; rows.step-- > 0;) {
        cell("gru_backward", a, rows, stream);
        if (rows.step == 0) return;
        Product p = product_of(from_row(rows.more_slopes, uint64_t(rows.step) * a.stream.across),
                               network.weights[m], a.stream.across, rows.neurons,
                               uint64_t(network.matrices[m].out));
        p.sums = rows.back;
        p.pitch = rows.back_pitch;
        launch_by_width("backward_64", "backward_128", "backward_clusters", {p}, with, stream);
    }
}

}
