#include "algorithms/off_policy/layers.h"

#include <learn/cpu/streamed/arguments.h>

namespace off_policy {

Levels make_levels(const Arrays& arrays, const std::string& name, const Networks& networks,
                   const Matrix& seen, uint64_t rows, bool learns, bool keeps_input) {
    Levels levels;
    levels.rows = uint32_t(rows);
    levels.seen = {seen};
    levels.kept = levels.slopes = {Matrix{}};
    for (uint32_t l = 0; l < networks.layers; ++l) {
        const std::string own = name + "." + std::to_string(l);
        const uint64_t width = networks.layer[l].out;
        const bool last = l + 1 == networks.layers;
        levels.seen.push_back(last ? Matrix{} : arrays.into(own, width, rows));
        levels.slopes.push_back(learns ? arrays.into(own + ".slopes", width, rows) : Matrix{});
        levels.kept.push_back(
            learns && !last && keeps_input ? arrays.into(own + ".inputs", width, rows) : Matrix{});
    }
    levels.outputs =
        arrays.out_of(name + ".outputs", networks.layer[networks.layers - 1].out, rows);
    if (learns) levels.back = arrays.out_of(name + ".back", networks.layer[0].in, rows);
    return levels;
}

namespace {

const float* weights_of(const Pass& pass) {
    const Networks& networks = *pass.networks;
    return (pass.following ? networks.following : networks.weights) +
           uint64_t(pass.number) * networks.parameters;
}
// A layer's weights as a GPU's products read them.
const float* prepared_of(const Pass& pass) {
    const Networks& networks = *pass.networks;
    return (pass.following ? networks.prepared_following : networks.prepared) +
           pass.number * networks.prepared_floats;
}
learn::TiledMatrix tiles_of(const Pass& pass, const Layer& layer) {
    auto* const at = reinterpret_cast<uint16_t*>(const_cast<float*>(prepared_of(pass)));
    return {at + layer.tiles, layer.plane, learn::tiles_along(layer.in)};
}
learn::Product product_of(const learn::TiledMatrix& a, const learn::TiledMatrix& b, uint32_t m,
                          uint32_t n, uint32_t k) {
    learn::Product product{};
    product.a = a;
    product.b = b;
    product.m = m;
    product.n = n;
    product.k = k;
    product.splits = 1;
    return product;
}
LayerProduct layer_of(const Pass& pass, uint32_t l) {
    const Networks& networks = *pass.networks;
    const Levels& levels = *pass.levels;
    const Layer& layer = networks.layer[l];
    const bool last = l + 1 == networks.layers;
    return {.weights = weights_of(pass) + layer.parameter,
            .seen = levels.seen[l].floats,
            .made = last ? levels.outputs.floats : levels.seen[l + 1].floats,
            .kept = levels.kept[l + 1].floats,
            .slopes = levels.slopes[l + 1].floats,
            .back = l == 0 ? levels.back.floats : levels.slopes[l].floats,
            .gradient =
                networks.total + uint64_t(pass.number) * networks.parameters + layer.parameter,
            .back_made = l == 0 ? nullptr : levels.seen[l].floats,
            .back_kept = levels.kept[l].floats,
            .in = layer.in,
            .out = layer.out,
            .rows = levels.rows,
            .first_task = 0,
            .bends = !last};
}
// A CPU's products of one level, each of so many tasks.
template <class Tasks>
void launch_layers(const Kernels& kernels, const char* name, std::span<const Pass> passes,
                   uint32_t l, const double* found, void* stream, Tasks&& tasks_of) {
    LayerProducts all{};
    all.found = found;
    uint32_t tasks = 0;
    for (const Pass& pass : passes) {
        LayerProduct& product = all.of[all.count++] = layer_of(pass, l);
        product.first_task = tasks;
        tasks += tasks_of(product);
    }
    kernels.launch(name, uint64_t(tasks) * learn::block_threads, all, stream);
}
uint32_t bands_of(const LayerProduct& product, uint32_t neurons) {
    return learn::tasks_along(product.rows, learn::task_rows) *
           learn::tasks_along(neurons, learn::task_neurons);
}

}

void Layers::launch(const char* name, uint32_t columns, std::span<const learn::Product> products,
                    const double* found, void* stream) const {
    learn::Products all{};
    all.found = found;
    uint64_t blocks = 0;
    const auto flush = [&] {
        if (all.count) kernels_.launch(name, columns, blocks, all, stream);
        all.count = 0;
        blocks = 0;
    };
    for (const learn::Product& product : products) {
        if (all.count == learn::most_products) flush();
        all.of[all.count] = product;
        all.of[all.count++].first_block = uint32_t(blocks);
        blocks += learn::product_blocks(product.m, product.n, columns, product.splits);
    }
    flush();
}
void Layers::launch_by_width(const std::string& way, std::span<const learn::Product> products,
                             const double* found, void* stream) const {
    for (const uint32_t columns : {64u, 128u}) {
        std::vector<learn::Product> these;
        for (const learn::Product& product : products)
            if (learn::columns_for(product.n, place_.planes) == columns) these.push_back(product);
        launch((way + std::to_string(columns)).c_str(), columns, these, found, stream);
    }
}

void Layers::level_forward(std::span<const Pass> passes, uint32_t l, const double* found,
                           void* stream) const {
    if (!place_.on_gpu)
        return launch_layers(kernels_, "forward_layers", passes, l, found, stream,
                             [](const LayerProduct& p) { return bands_of(p, p.out); });
    std::vector<learn::Product> products;
    for (const Pass& pass : passes) {
        const Layer& layer = pass.networks->layer[l];
        const Levels& levels = *pass.levels;
        learn::Product& p = products.emplace_back(product_of(
            levels.seen[l].tiles, tiles_of(pass, layer), levels.rows, layer.out, layer.in));
        p.bias = prepared_of(pass) + layer.biases;
        p.out = levels.seen[l + 1].tiles;
        p.kept = levels.kept[l + 1].tiles;
        p.sums = l + 1 == pass.networks->layers ? levels.outputs.floats : nullptr;
        p.pitch = levels.outputs.width;
    }
    launch_by_width("forward_", products, found, stream);
}
void Layers::level_backward(std::span<const Pass> passes, uint32_t l, const double* found,
                            void* stream) const {
    if (!place_.on_gpu)
        return launch_layers(kernels_, "backward_layers", passes, l, found, stream,
                             [](const LayerProduct& p) { return bands_of(p, p.in); });
    std::vector<learn::Product> products;
    for (const Pass& pass : passes) {
        const Layer& layer = pass.networks->layer[l];
        const Levels& levels = *pass.levels;
        learn::Product& p = products.emplace_back(product_of(
            levels.slopes[l + 1].tiles, tiles_of(pass, layer), levels.rows, layer.in, layer.out));
        p.out = levels.slopes[l].tiles;
        p.sums = l == 0 ? levels.back.floats : nullptr;
        p.pitch = levels.back.width;
        if (l > 0) p.kept = levels.kept[l].tiles.at ? levels.kept[l].tiles : levels.seen[l].tiles;
    }
    launch_by_width("backward_", products, found, stream);
}

void Layers::forward(std::span<const Pass> passes, const double* found, void* stream) const {
    for (uint32_t l = 0; l < passes[0].networks->layers; ++l)
        level_forward(passes, l, found, stream);
}
void Layers::backward(std::span<const Pass> passes, bool to_seen, const double* found,
                      void* stream) const {
    for (uint32_t l = passes[0].networks->layers; l-- > (to_seen ? 0u : 1u);)
        level_backward(passes, l, found, stream);
}
void Layers::gradient(std::span<const Pass> passes, const double* found, void* stream) const {
    std::vector<learn::Product> products;
    for (uint32_t l = 0; l < passes[0].networks->layers; ++l) {
        if (!place_.on_gpu) {
            launch_layers(kernels_, "weigh_layers", passes, l, found, stream,
                          [](const LayerProduct& p) { return learn::weight_tasks(p.in, p.out); });
            continue;
        }
        for (const Pass& pass : passes) {
            const Networks& networks = *pass.networks;
            const Layer& layer = networks.layer[l];
            const Levels& levels = *pass.levels;
            learn::Product& p =
                products.emplace_back(product_of(levels.slopes[l + 1].tiles, levels.seen[l].tiles,
                                                 layer.out, layer.in, levels.rows));
            p.sums = networks.gradient + pass.number * networks.gradient_floats + layer.gradient;
            p.pitch = layer.pitch;
            p.splits = layer.splits;
            p.slot_floats = layer.slot_floats;
        }
    }
    launch("weights_128", learn::weight_columns, products, found, stream);
}

}
