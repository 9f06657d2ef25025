#include "algorithms/common/streamed_policy.h"

#include "algorithms/common/policy_kernels.h"

namespace learn {

StreamedPolicy::StreamedPolicy(nacelle::plugin::Host host, const Settings& settings,
                               const NetworkShape& shape, uint32_t number, uint32_t envs)
    : host_(host),
      settings_(settings),
      policy_(settings.policies[number]),
      number_(number),
      shared_(shape.shared),
      seen_(shape.seen),
      encoder_(shape.encoder),
      agents_(uint64_t(envs) * policy_.agents),
      widths_(shape, policy_.planes) {
    networks_.push_back({.widths = shape.actor});
    if (!shape.shared) networks_.push_back({.widths = shape.critic});
    minibatch_ = (settings.horizon * agents_ + settings.minibatches - 1) / settings.minibatches;
    uint32_t parameter = 0;
    for (Network& network : networks_) {
        const auto& widths = network.widths;
        plan_convolutions(network, parameter);
        parameter += uint32_t(encoder_.parameters());
        for (size_t l = 0; l < network.layers(); ++l) {
            const bool choices = l + 1 == network.layers() && &network == networks_.data();
            const uint32_t in = uint32_t(widths[l]), out = uint32_t(widths[l + 1]),
                           pitch = in_fours(in);
            network.slots.push_back(
                {.gradient = nullptr,
                 .slot_floats = out * pitch + in_fours(out),
                 .splits = 1,
                 .in = in,
                 .out = out,
                 .pitch = pitch,
                 .parameter = parameter,
                 .first_block = 0,
                 .sharers = 1,
                 .first_blind = choices && shape.free_deviation ? shape.choices + shape.reals : out,
                 .end_blind = choices ? uint32_t(shape.outputs()) : out});
            parameter += (in + 1) * out;
        }
    }
    room_ = room_for(std::max(minibatch_, agents_), numbers_of_a_row() * 2);
    if (!learns()) return;
    plan_sums(std::min<uint64_t>(minibatch_, room_));
    plan_conv_sums(std::min<uint64_t>(minibatch_, room_));
}

void StreamedPolicy::find_kernels(const Find& in_rollout, const Find& in_rest,
                                  const Find& in_update) {
    const auto way = [&](const std::string& name, const BlockWidths& which) {
        Way found;
        if (which.narrow) found.narrow = in_update(name + "_64");
        if (which.wide) found.wide = in_update(name + "_128");
        return found;
    };
    forward_ = way("forward", widths_.forward);
    find_convolutions(in_update);
    gather_now_ = in_rest("gather_now");
    act_ = in_rest("act");
    gather_step_ = in_rollout("gather_step");
    choose_ = in_rollout("choose");
    if (!learns()) return;
    backward_ = way("backward", widths_.backward);
    weights_ = in_update("weights_128");
    gather_minibatch_ = in_update("gather_minibatch");
    gather_valued_ = in_update("gather_valued");
    mark_valued_ = in_update("mark_valued");
    keep_values_ = in_update("keep_values");
    slopes_ = in_update("slopes");
    total_ = in_update("total");
    if (!settings_.traced) return;
    gather_samples_ = in_update("gather_samples");
    review_ = in_update("review");
}

template <class Fn> void StreamedPolicy::each_chunk(uint64_t rows, Fn&& fn) const {
    for (uint64_t first = 0; first < rows; first += room_)
        fn(Rows{uint32_t(first), uint32_t(std::min<uint64_t>(rows - first, room_))});
}
StreamArguments StreamedPolicy::with_rows(const Arguments& a, Rows rows) const {
    StreamArguments with{a, stream_};
    with.stream.first = rows.first;
    with.stream.rows = rows.count;
    return with;
}
void StreamedPolicy::gather(const nacelle_kernel& kernel, const StreamArguments& a,
                            void* stream) const {
    const uint64_t lanes = gather_lanes(uint64_t(seen_));
    host_.launch(kernel, whole_blocks(a.stream.rows) * lanes, block_items, a, stream);
}
void StreamedPolicy::rowwise(const nacelle_kernel& kernel, const StreamArguments& a,
                             void* stream) const {
    host_.launch(kernel, whole_blocks(a.stream.rows), block_items, a, stream);
}

std::vector<const StreamedPolicy::Network*> StreamedPolicy::networks(Which which) const {
    if (which == Which::both && !shared_) return {&networks_[0], &networks_[1]};
    return {&networks_[which == Which::critic && !shared_ ? 1 : 0]};
}
Product StreamedPolicy::product_of(const TiledMatrix& a, const TiledMatrix& b, uint64_t m,
                                   uint64_t n, uint64_t k) const {
    Product product{};
    product.a = a;
    product.b = b;
    product.m = uint32_t(m);
    product.n = uint32_t(n);
    product.k = uint32_t(k);
    product.splits = 1;
    return product;
}
void StreamedPolicy::launch(const nacelle_kernel& kernel, const std::vector<Product>& products,
                            uint32_t columns, Products with, void* stream) const {
    for (size_t next = 0; next < products.size();) {
        uint64_t blocks = 0;
        for (with.count = 0; with.count < most_products && next < products.size(); ++next) {
            const Product& product = products[next];
            with.of[with.count] = product;
            with.of[with.count++].first_block = uint32_t(blocks);
            blocks += product_blocks(product.m, product.n, columns, product.splits);
        }
        host_.launch(kernel,
                     {.threads = product_threads,
                      .items = blocks * product_threads,
                      .shared_bytes = product_bytes(policy_.planes, columns)},
                     with, stream);
    }
}
void StreamedPolicy::launch(const Way& way, const std::vector<Product>& products, Products with,
                            void* stream) const {
    for (const uint32_t columns : {64u, 128u}) {
        std::vector<Product> these;
        for (const Product& product : products)
            if (columns_for(product.n, policy_.planes) == columns) these.push_back(product);
        launch(columns == 64 ? way.narrow : way.wide, these, columns, with, stream);
    }
}
void StreamedPolicy::forward(uint32_t rows, Which which, Products with, void* stream) const {
    convolve(rows, which, with, stream);
    for (size_t l = 0; l < networks_[0].layers(); ++l) {
        std::vector<Product> products;
        for (const Network* const network : networks(which)) {
            const auto& widths = network->widths;
            Product& p =
                products.emplace_back(product_of(network->seen[l], network->weights[l], rows,
                                                 uint64_t(widths[l + 1]), uint64_t(widths[l])));
            p.bias = network->biases[l];
            p.out = network->seen[l + 1];
            p.kept = network->straight[l + 1];
            p.sums = l + 1 == network->layers() ? network->outputs : nullptr;
            p.pitch = network->pitch;
        }
        launch(forward_, products, with, stream);
    }
}
void StreamedPolicy::backward(uint32_t rows, size_t l, const Products& with, void* stream) const {
    std::vector<Product> products;
    for (const Network& network : networks_) {
        Product& p = products.emplace_back(product_of(network.slopes[l + 1], network.weights[l],
                                                      rows, uint64_t(network.widths[l]),
                                                      uint64_t(network.widths[l + 1])));
        p.out = network.slopes[l];
        p.kept = policy_.keeps_input() ? network.straight[l] : network.seen[l];
    }
    launch(backward_, products, with, stream);
}
void StreamedPolicy::sum_weights(uint32_t rows, const Products& with, void* stream) const {
    std::vector<Product> products;
    for (const Network& network : networks_)
        for (size_t l = 0; l < network.layers(); ++l) {
            const LayerSlots& slots = network.slots[l];
            Product& p = products.emplace_back(
                product_of(network.slopes[l + 1], network.seen[l], slots.out, slots.in, rows));
            p.sums = const_cast<float*>(slots.gradient);
            p.pitch = slots.pitch;
            p.splits = slots.splits;
            p.slot_floats = slots.slot_floats;
        }
    launch(weights_, products, weight_columns, with, stream);
}

void StreamedPolicy::infer(uint64_t all, const nacelle_kernel& from, const nacelle_kernel& use,
                           const Products& with, const Arguments& a, void* stream) const {
    each_chunk(all, [&](Rows rows) {
        const StreamArguments its = with_rows(a, rows);
        gather(from, its, stream);
        forward(rows.count, Which::actor, with, stream);
        rowwise(use, its, stream);
    });
}
void StreamedPolicy::act(const Arguments& a, void* stream) const {
    infer(agents_, gather_now_, act_, {}, a, stream);
}
void StreamedPolicy::choose(const Arguments& a, void* stream) const {
    infer(agents_, gather_step_, choose_, {}, a, stream);
}
void StreamedPolicy::close_rollout(Arguments& a, void* stream) const {
    if (!learns()) return;
    a.step = a.steps;
    each_chunk(agents_, [&](Rows rows) { gather(gather_step_, with_rows(a, rows), stream); });
    find_values(a, stream);
}
void StreamedPolicy::find_values(const Arguments& a, void* stream) const {
    const uint64_t standing = shared_ ? agents_ : (a.steps + 1) * agents_;
    each_chunk(standing + a.steps * agents_, [&](Rows rows) {
        StreamArguments with = with_rows(a, rows);
        if (rows.first + uint64_t(rows.count) > standing) rowwise(mark_valued_, with, stream);
        else with.stream.present = nullptr;    // all are there
        gather(gather_valued_, with, stream);
        Products only{};
        only.present = with.stream.present;
        forward(rows.count, Which::critic, only, stream);
        rowwise(keep_values_, with, stream);
    });
}
void StreamedPolicy::review(const Arguments& a, void* stream) const {
    Products unless{};
    unless.found = a.policy[number_].found;
    infer(a.steps * agents_, gather_samples_, review_, unless, a, stream);
    if (!shared_) find_values(a, stream);
}
void StreamedPolicy::gradient(const Arguments& a, uint64_t samples, void* stream) const {
    Products unless{};
    unless.found = a.policy[number_].found;
    each_chunk(samples, [&](Rows rows) {
        const StreamArguments with = with_rows(a, rows);
        gather(gather_minibatch_, with, stream);
        forward(rows.count, Which::both, unless, stream);
        host_.launch(slopes_, uint64_t(a.policy[number_].parts) * networks_.size() * block_items,
                     block_items, with, stream);
        unless.adds = rows.first > 0;
        for (size_t l = networks_[0].layers(); --l > 0;) backward(rows.count, l, unless, stream);
        if (convolves()) backward(rows.count, 0, unless, stream);
        sum_weights(rows.count, unless, stream);
        convolve_back(rows.count, unless, stream);
    });
    host_.launch(total_, uint64_t(sum_blocks_) * block_items, block_items, with_rows(a, {0, 0}),
                 stream);
}

}
