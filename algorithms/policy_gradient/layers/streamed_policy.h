#pragma once
#include "algorithms/policy_gradient/plan/kernels.h"

#include <learn/gpu/tile/arguments.h>

namespace learn {

// A policy whose layers go through memory, each a matrix product of its own: its arrays, its kernels, and the order in
// which rows go through them. So many rows at once as there is room for.
class StreamedPolicy final {
public:
    StreamedPolicy(nacelle::plugin::Host host, const Kernels& kernels, const Settings& settings,
                   const NetworkShape& shape, uint32_t number);

    // Before anything is launched; `arguments` has the policy's own arrays already, but for those of its sums.
    void make_arrays(Arguments& arguments);
    uint32_t sum_blocks() const { return sum_blocks_; }
    // Floats of a gradient as ranks exchange it.
    uint64_t peer_room() const { return peer_room_; }

    // All of these put their launches on the stream.
    void act(const Arguments& a, uint64_t agents, void* stream) const;    // the first of them
    void choose(const Arguments& a, void* stream) const;
    void close_rollout(Arguments& a, void* stream) const;
    void find_values(const Arguments& a, void* stream) const;
    void review(const Arguments& a, void* stream) const;
    void gradient(const Arguments& a, uint64_t samples, void* stream) const;

private:
    // A convolution of a network: what it makes, what went into its activation, and the slopes along that. Those of the
    // last one are the first level's of the layers behind.
    struct ConvLevel {
        TiledMatrix made{}, straight{}, slopes{};
        const float* weights = nullptr;
        LayerSlots slots{};
    };
    // One of the policy's networks: a matrix for each level, from what is seen to the outputs.
    struct Network {
        std::vector<ConvLevel> convolutions;
        std::vector<int64_t> widths;
        std::vector<MatrixSize> matrices;
        std::vector<TiledMatrix> seen, straight,
            slopes;    // `straight` went into the activations, where slopes need it
        std::vector<TiledMatrix> weights;
        std::vector<const float*> biases;
        std::vector<LayerSlots> slots;
        // Layer by layer: what it is, its first matrix, and what it needs to remember.
        std::vector<Cell> cells;
        std::vector<size_t> first_matrix;
        std::vector<CellRows> memory;
        float* outputs = nullptr;
        uint32_t pitch = 0;
        size_t layers() const { return widths.size() - 1; }
    };
    struct Rows {
        uint32_t first, count;
    };
    enum class Which { actor, critic, both };

    const PolicyPlan& plan() const { return kernels_.plan().policies[number_]; }
    bool remembers() const { return plan().remembers; }
    bool learns() const { return plan().learns; }
    uint32_t room_for(uint64_t rows, uint64_t row_bytes) const;
    uint64_t numbers_of_a_row() const;
    void plan_sums(uint64_t rows);
    uint32_t best_splits(uint64_t blocks, uint64_t at_once, uint64_t floats, uint64_t rows) const;
    // In streamed_conv.cpp: what belongs to convolutions.
    bool convolves() const { return encoder_.count > 0; }
    uint64_t numbers_of_convolutions() const;
    void plan_convolutions(Network& network, uint32_t parameter);
    void plan_conv_sums(uint64_t rows);
    void make_conv_matrices(Network& network, const std::string& prefix,
                            const float* prepared) const;
    ConvPass conv_pass(const Network& network, int layer, uint32_t rows,
                       const Products& with) const;
    void launch_conv(KernelName name, int layer, const ConvPass& pass, uint64_t count,
                     void* stream) const;
    void convolve(uint32_t rows, Which which, const Products& with, void* stream) const;
    void convolve_back(uint32_t rows, const Products& with, void* stream) const;
    // Its arrays; of all rows that go through at once, in tiles.
    void* array(const std::string& which, nacelle::Dtype dtype, uint64_t count) const;
    TiledMatrix rows_of(const std::string& which, int64_t width) const;

    template <class Fn> void each_chunk(uint64_t rows, Fn&& fn) const;
    StreamArguments with_rows(const Arguments& a, Rows rows) const;
    void launch(KernelName name, const StreamArguments& a, void* stream) const {
        kernels_.launch(name, number_, a, stream, a.stream.rows);
    }
    // Through all layers, or all but so many of the last ones.
    void forward(uint32_t rows, Which which, Products with, void* stream, size_t but = 0) const;
    // From what goes into the last layers to the slopes along it.
    void go_through_last(const StreamArguments& a, void* stream) const;
    void give_outputs(uint32_t rows, Which which, const Products& with, void* stream) const;
    LastLayerArguments with_last_layers(const StreamArguments& a) const;
    // So many rows through the first network: where they come from, and what its outputs are for.
    void infer(uint64_t rows, KernelName from, KernelName use, const Products& with,
               const Arguments& a, void* stream) const;
    Product product_back(const Network& network, uint32_t rows, size_t layer) const;
    void backward(uint32_t rows, size_t layer, const Products& with, void* stream) const;
    void backward_to_first(uint32_t rows, Products with, void* stream) const;
    PassArguments with_layers(const StreamArguments& a) const;
    void pass_rows(const StreamArguments& a, void* stream) const;
    void pass_forward(const StreamArguments& a, void* stream) const;
    void sum_weights(uint32_t rows, const Products& with, void* stream) const;
    // Layers that remember, in streamed_memory.cpp. How rows go through them: a step of a rollout or of an evaluation, or
    // all steps of sequences, by which a gradient is found.
    enum class Pass { step, last_step, sequences };
    void plan_memory();
    void make_memory();
    template <class Fn> void each_part(uint64_t sequences, uint32_t together, Fn&& fn) const;
    StreamArguments with_sequences(const Arguments& a, uint32_t first, uint32_t count,
                                   uint32_t steps) const;
    void step_with_memory(const Arguments& a, Pass pass, void* stream) const;
    void act_with_memory(const Arguments& a, uint64_t agents, void* stream) const;
    void review_with_memory(const Arguments& a, void* stream) const;
    void gradient_with_memory(const Arguments& a, uint64_t samples, void* stream) const;
    void forward_with_memory(const StreamArguments& a, Which which, Pass pass, Products with,
                             void* stream) const;
    void backward_with_memory(const StreamArguments& a, const Products& with, void* stream) const;
    void remember(const StreamArguments& a, const Network& network, size_t layer, Pass pass,
                  const Products& with, void* stream) const;
    void remember_backward(const StreamArguments& a, const Network& network, size_t layer,
                           const Products& with, void* stream) const;
    // A thread has so many neurons of a sequence.
    void cell(KernelName name, const StreamArguments& a, const CellRows& cell, void* stream,
              uint32_t together = 2) const {
        kernels_.launch(name, number_, CellArguments{a.all, a.stream, cell}, stream,
                        uint64_t(a.stream.across) * divided_up(cell.neurons, together));
    }
    // All steps of a gru's sequences.
    void through(KernelName in_64, KernelName in_128, const StreamArguments& a,
                 const CellRows& cell, void* stream) const {
        kernels_.launch(gru_room_of(cell.neurons) == 64 ? in_64 : in_128, number_,
                        CellArguments{a.all, a.stream, cell}, stream, a.stream.across);
    }
    uint32_t gru_room_of(uint32_t neurons) const {
        return learn::gru_room_of(settings_, neurons, policy_.planes);
    }
    // The slopes along what a layer's first matrix gives.
    const TiledMatrix& top(const Network& network, size_t layer) const;
    // As few launches as there may be of all products that blocks of so many columns compute.
    void launch(KernelName name, uint32_t columns, const std::vector<Product>& products,
                Products with, void* stream) const;
    void launch_by_width(KernelName narrow, KernelName wide, KernelName clusters,
                         const std::vector<Product>& products, const Products& with,
                         void* stream) const;
    // By clusters of blocks, of which each stays for several parts.
    void launch_clusters(KernelName name, const std::vector<Product>& products, Products with,
                         void* stream) const;
    bool fits_clusters(uint64_t columns) const {
        return plan().in_clusters && learn::fits_clusters(columns, policy_.planes);
    }
    // Whether a kernel of its own sums a layer's gradient, into a slot for each of its blocks.
    bool is_summed_apart(const Network& network, size_t matrix) const {
        const bool ends = plan().ends_at_once;
        return (matrix == 0 && (ends || plan().first_at_once())) ||
               (matrix + 1 == network.matrices.size() && (ends || plan().last_at_once));
    }
    uint32_t slots_apart(size_t matrix) const {
        if (plan().ends_at_once) return plan().parts * row_pass_groups;
        return plan().first_at_once() && matrix == 0 ? plan().stripe_turns * stripe_slots
                                                     : plan().parts;
    }
    bool sums_in_clusters(const LayerSlots& layer) const {
        return layer.out >= cluster_rows && fits_clusters(layer.in);
    }
    Product product_of(const TiledMatrix& a, const TiledMatrix& b, uint64_t m, uint64_t n,
                       uint64_t k) const;
    std::vector<const Network*> networks(Which which) const;

    nacelle::plugin::Host host_;
    const Kernels& kernels_;
    const Settings& settings_;
    const PolicySettings& policy_;
    uint32_t number_, room_ = 0, sum_blocks_ = 0;
    bool one_, values_later_;    // networks; values in a pass behind a rollout
    int64_t seen_;
    Encoder encoder_;
    uint64_t minibatch_ = 0, agents_ = 0, learners_ = 0, peer_room_ = 0;
    std::vector<Network> networks_;
    Stream stream_{};
    uint32_t agents_together_ = 0,
             sequences_together_ = 0;    // of those that remember: whole blocks
};

}
