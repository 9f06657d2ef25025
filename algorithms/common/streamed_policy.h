#pragma once
#include "algorithms/common/streamed_texts.h"

#include <functional>
#include <learn/conv_tiles.h>
#include <learn/gpu/streamed/arguments.h>
#include <nacelle/plugin/host.h>

namespace learn {

// A policy whose layers go through memory, each a matrix product of its own: its arrays, its kernels, and the order in
// which rows go through them. So many rows at once as there is room for.
class StreamedPolicy final {
public:
    // Finds the policy's kernels by name.
    using Find = std::function<nacelle_kernel(const std::string& name)>;
    StreamedPolicy(nacelle::plugin::Host host, const Settings& settings, const NetworkShape& shape,
                   uint32_t number, uint32_t envs);

    void find_kernels(const Find& in_rollout, const Find& in_rest, const Find& in_update);
    // Before anything is launched; `arguments` has the policy's own arrays already, but for those of its sums.
    void make_arrays(Arguments& arguments);
    uint32_t sum_blocks() const { return sum_blocks_; }

    // All of these put their launches on the stream.
    void act(const Arguments& a, void* stream) const;
    void choose(const Arguments& a, void* stream) const;
    void close_rollout(Arguments& a, void* stream) const;
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
        std::vector<TiledMatrix> seen, straight,
            slopes;    // `straight` went into the activations, where slopes need it
        std::vector<TiledMatrix> weights;
        std::vector<const float*> biases;
        std::vector<LayerSlots> slots;
        float* outputs = nullptr;
        uint32_t pitch = 0;
        size_t layers() const { return widths.size() - 1; }
    };
    struct ConvKernels {
        nacelle_kernel forward{}, backward{}, weights{};
    };
    struct Way {    // a product's kernels, by the columns of a block
        nacelle_kernel narrow{}, wide{};
    };
    struct Rows {
        uint32_t first, count;
    };
    enum class Which { actor, critic, both };

    bool learns() const { return policy_.role == PolicySettings::Role::trained; }
    uint32_t room_for(uint64_t rows, uint64_t row_bytes) const;
    uint64_t numbers_of_a_row() const;
    void plan_sums(uint64_t rows);
    // In streamed_conv.cpp: what belongs to convolutions.
    bool convolves() const { return encoder_.count > 0; }
    uint64_t numbers_of_convolutions() const;
    void plan_convolutions(Network& network, uint32_t parameter);
    void plan_conv_sums(uint64_t rows);
    // One array that the kernels have, by its name.
    using Matrices = std::function<TiledMatrix(const std::string& which, int64_t width)>;
    void make_conv_matrices(Network& network, const std::string& prefix, const float* prepared,
                            const Matrices& matrix) const;
    void find_convolutions(const Find& in_update);
    ConvPass conv_pass(const Network& network, int layer, uint32_t rows,
                       const Products& with) const;
    void launch_conv(const nacelle_kernel& kernel, uint64_t blocks, const ConvBlock& block,
                     const ConvPass& pass, void* stream) const;
    void convolve(uint32_t rows, Which which, const Products& with, void* stream) const;
    void convolve_back(uint32_t rows, const Products& with, void* stream) const;

    template <class Fn> void each_chunk(uint64_t rows, Fn&& fn) const;
    StreamArguments with_rows(const Arguments& a, Rows rows) const;
    void gather(const nacelle_kernel& kernel, const StreamArguments& a, void* stream) const;
    void rowwise(const nacelle_kernel& kernel, const StreamArguments& a, void* stream) const;
    void forward(uint32_t rows, Which which, Products with, void* stream) const;
    // So many rows through the first network: where they come from, and what its outputs are for.
    void infer(uint64_t rows, const nacelle_kernel& from, const nacelle_kernel& use,
               const Products& with, const Arguments& a, void* stream) const;
    void find_values(const Arguments& a, void* stream) const;
    void backward(uint32_t rows, size_t layer, const Products& with, void* stream) const;
    void sum_weights(uint32_t rows, const Products& with, void* stream) const;
    // As few launches as there may be: products of blocks of the same width go together.
    void launch(const Way& way, const std::vector<Product>& products, Products with,
                void* stream) const;
    void launch(const nacelle_kernel& kernel, const std::vector<Product>& products,
                uint32_t columns, Products with, void* stream) const;
    Product product_of(const TiledMatrix& a, const TiledMatrix& b, uint64_t m, uint64_t n,
                       uint64_t k) const;
    std::vector<const Network*> networks(Which which) const;

    nacelle::plugin::Host host_;
    const Settings& settings_;
    const PolicySettings& policy_;
    uint32_t number_, room_ = 0, sum_blocks_ = 0;
    bool shared_;
    int64_t seen_;
    Encoder encoder_;
    uint64_t minibatch_ = 0, agents_ = 0;
    ProductWidths widths_;
    std::vector<Network> networks_;
    Stream stream_{};
    nacelle_kernel gather_now_{}, act_{}, gather_step_{}, choose_{}, gather_minibatch_{},
        gather_valued_{}, mark_valued_{}, keep_values_{}, slopes_{}, total_{}, gather_samples_{},
        review_{};
    Way forward_{}, backward_{};
    nacelle_kernel weights_{};
    std::vector<ConvKernels> conv_kernels_;
};

}
