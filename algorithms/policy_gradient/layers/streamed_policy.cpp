#include "algorithms/policy_gradient/layers/streamed_policy.h"

namespace learn {

StreamedPolicy::StreamedPolicy(nacelle::plugin::Host host, const Kernels& kernels,
                               const Settings& settings, const NetworkShape& shape, uint32_t number)
    : host_(host),
      kernels_(kernels),
      settings_(settings),
      policy_(settings.policies[number]),
      number_(number),
      one_(shape.critic.empty()),
      values_later_(!one_ || policy_.is_critic()),
      seen_(shape.seen),
      encoder_(shape.encoder),
      agents_(plan().rows),
      learners_(plan().learners) {
    networks_.push_back({.widths = shape.actor, .matrices = shape.matrices(shape.actor)});
    if (!one_)
        networks_.push_back({.widths = shape.critic, .matrices = shape.matrices(shape.critic)});
    minibatch_ = (settings.horizon * learners_ + settings.minibatches - 1) / settings.minibatches;
    uint32_t parameter = 0;
    for (Network& network : networks_) {
        plan_convolutions(network, parameter);
        parameter += uint32_t(encoder_.parameters());
        network.cells = shape.cells;
        network.cells.push_back(Cell::linear);
        for (size_t l = 0, m = 0; l < network.layers();
             m += size_t(matrices_of(network.cells[l++])))
            network.first_matrix.push_back(m);
        for (size_t m = 0; m < network.matrices.size(); ++m) {
            const bool choices = m + 1 == network.matrices.size() && &network == networks_.data();
            const uint32_t in = uint32_t(network.matrices[m].in),
                           out = uint32_t(network.matrices[m].out), pitch = in_fours(in);
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
                 .rounds = 1,
                 .first_blind = choices && shape.free_deviation ? shape.choices + shape.reals : out,
                 .end_blind = choices ? uint32_t(shape.outputs()) : out});
            parameter += (in + 1) * out;
        }
    }
    room_ = room_for(std::max(minibatch_, agents_), numbers_of_a_row() * 2);
    if (remembers()) plan_memory();
    if (!learns()) return;
    plan_sums(std::min<uint64_t>(minibatch_, room_));
    plan_conv_sums(std::min<uint64_t>(minibatch_, room_));
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
std::vector<const StreamedPolicy::Network*> StreamedPolicy::networks(Which which) const {
    if (which == Which::both && !one_) return {&networks_[0], &networks_[1]};
    return {&networks_[which == Which::critic && !one_ ? 1 : 0]};
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
void StreamedPolicy::launch(KernelName name, uint32_t columns, const std::vector<Product>& products,
                            Products with, void* stream) const {
    uint64_t blocks = 0;
    const auto flush = [&] {
        if (with.count) kernels_.launch(name, number_, with, stream, blocks);
        with.count = 0;
        blocks = 0;
    };
    for (const Product& product : products) {
        if (with.count == most_products) flush();
        with.of[with.count] = product;
        with.of[with.count++].first_block = uint32_t(blocks);
        blocks += product_blocks(product.m, product.n, columns, product.splits);
    }
    flush();
}
void StreamedPolicy::launch_clusters(KernelName name, const std::vector<Product>& products,
                                     Products with, void* stream) const {
    const auto flush = [&] {
        // For stripes as many whatever the rows, since each has slots of its own.
        with.clusters =
            with.stripes ? plan().stripe_turns * with.stripes : std::min(with.parts, most_clusters);
        if (with.count)
            kernels_.launch(name, number_, with, stream, uint64_t(with.clusters) * cluster_blocks);
        with.count = with.parts = 0;
    };
    for (const Product& product : products) {
        if (with.count == most_products) flush();
        with.of[with.count] = product;
        with.of[with.count++].first_block = with.parts;
        with.parts += uint32_t(cluster_parts(product.m, product.n, policy_.planes, product.splits));
    }
    flush();
}
void StreamedPolicy::launch_by_width(KernelName narrow, KernelName wide, KernelName clusters,
                                     const std::vector<Product>& products, const Products& with,
                                     void* stream) const {
    const uint64_t fewest = settings_.emulates ? 1 : fewest_cluster_parts;
    uint64_t parts = 0;
    for (const Product& product : products)
        if (fits_clusters(product.n)) parts += cluster_parts(product.m, product.n, policy_.planes);
    const auto by_clusters = [&](const Product& product) {
        return parts >= fewest && fits_clusters(product.n);
    };
    std::vector<Product> large;
    for (const Product& product : products)
        if (by_clusters(product)) large.push_back(product);
    launch_clusters(clusters, large, with, stream);
    for (const uint32_t columns : {64u, 128u}) {
        std::vector<Product> these;
        for (const Product& product : products)
            if (!by_clusters(product) && columns_for(product.n, policy_.planes) == columns)
                these.push_back(product);
        launch(columns == 64 ? narrow : wide, columns, these, with, stream);
    }
}
void StreamedPolicy::forward(uint32_t rows, Which which, Products with, void* stream,
                             size_t but) const {
    convolve(rows, which, with, stream);
    const bool gives = but == 0 && plan().last_at_once;
    if (gives) but = 1;
    for (size_t l = 0; l + but < networks_[0].layers(); ++l) {
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
        launch_by_width("forward_64", "forward_128", "forward_clusters", products, with, stream);
    }
    if (gives) give_outputs(rows, which, with, stream);
}
void StreamedPolicy::backward(uint32_t rows, size_t l, const Products& with, void* stream) const {
    std::vector<Product> products;
    for (const Network& network : networks_) products.push_back(product_back(network, rows, l));
    launch_by_width("backward_64", "backward_128", "backward_clusters", products, with, stream);
}
LastLayerArguments StreamedPolicy::with_last_layers(const StreamArguments& a) const {
    LastLayerArguments with{{a}, {}, 0, nullptr, nullptr};
    for (size_t n = 0; n < networks_.size(); ++n) {
        const Network& network = networks_[n];
        const size_t last = network.layers() - 1;
        const LayerSlots& slots = network.slots.back();
        with.layer[n] = {network.seen[last],
                         network.slopes[last],
                         network.weights.back(),
                         network.biases.back(),
                         const_cast<float*>(slots.gradient),
                         slots.slot_floats,
                         slots.pitch};
    }
    return with;
}
void StreamedPolicy::go_through_last(const StreamArguments& a, void* stream) const {
    kernels_.launch("last_layer", number_, with_last_layers(a), stream);
}
void StreamedPolicy::give_outputs(uint32_t rows, Which which, const Products& with,
                                  void* stream) const {
    StreamArguments a{{}, stream_};
    a.stream.rows = rows;
    LastLayerArguments its = with_last_layers(a);
    its.found = with.found;
    its.present = with.present;
    for (const Network* const network : networks(which)) {
        its.network = uint32_t(network - networks_.data());
        kernels_.launch("last_outputs", number_, its, stream, rows);
    }
}
void StreamedPolicy::sum_weights(uint32_t rows, const Products& with, void* stream) const {
    std::vector<Product> products, large;
    for (const Network& network : networks_)
        for (size_t m = 0, l = 0; m < network.matrices.size(); ++m) {
            if (l + 1 < network.layers() && m == network.first_matrix[l + 1]) ++l;
            if (is_summed_apart(network, m)) continue;
            const bool first = m == network.first_matrix[l];
            const LayerSlots& slots = network.slots[m];
            Product& p = (sums_in_clusters(slots) ? large : products)
                             .emplace_back(
                                 product_of(first ? top(network, l) : network.memory[l].more_slopes,
                                            first ? network.seen[l] : network.memory[l].before,
                                            slots.out, slots.in, rows));
            p.sums = const_cast<float*>(slots.gradient);
            p.pitch = slots.pitch;
            p.splits = slots.splits;
            p.slot_floats = slots.slot_floats;
        }
    if (!large.empty()) launch_clusters("weights_clusters", large, with, stream);
    launch("weights_128", weight_columns, products, with, stream);
}

// Rows through the network: through all layers in one kernel where an update has such a kernel, and all rows count.
void StreamedPolicy::infer(uint64_t all, KernelName from, KernelName use, const Products& with,
                           const Arguments& a, void* stream) const {
    const bool passes_forward = !with.found && !with.present;
    each_chunk(all, [&](Rows rows) {
        const StreamArguments its = with_rows(a, rows);
        launch(from, its, stream);
        if (passes_forward && plan().passes_rows && plan().learns) pass_forward(its, stream);
        else forward(rows.count, Which::actor, with, stream);
        launch(use, its, stream);
    });
}
void StreamedPolicy::act(const Arguments& a, uint64_t agents, void* stream) const {
    if (remembers()) act_with_memory(a, agents, stream);
    else if (plan().resides) kernels_.launch("act_resident", number_, a, stream, agents);
    else infer(agents, "gather_now", "act_streamed", {}, a, stream);
}
void StreamedPolicy::choose(const Arguments& a, void* stream) const {
    if (remembers()) step_with_memory(a, Pass::step, stream);
    else if (plan().resides) kernels_.launch("choose_resident", number_, a, stream);
    else infer(agents_, "gather_step", "choose_streamed", {}, a, stream);
}
void StreamedPolicy::close_rollout(Arguments& a, void* stream) const {
    if (!learns() || kernels_.plan().run.rollout == Rollout::remembering) return;
    a.step = a.steps;
    if (remembers()) return step_with_memory(a, Pass::last_step, stream);
    if (kernels_.plan().run.rollout == Rollout::steps)
        each_chunk(agents_, [&](Rows rows) { launch("gather_step", with_rows(a, rows), stream); });
    if (!policy_.critic.there) find_values(a, stream);
}
void StreamedPolicy::find_values(const Arguments& a, void* stream) const {
    const uint64_t standing = values_later_ ? (a.steps + 1) * learners_ : learners_;
    if (plan().resides)
        return kernels_.launch("values_resident", number_, a, stream,
                               standing + a.steps * learners_);
    each_chunk(standing + a.steps * learners_, [&](Rows rows) {
        StreamArguments with = with_rows(a, rows);
        if (rows.first + uint64_t(rows.count) > standing) {
            launch("mark_valued", with, stream);
            launch("gather_marked", with, stream);
        } else {
            with.stream.present = nullptr;    // all are there
            launch("gather_valued", with, stream);
        }
        Products only{};
        only.present = with.stream.present;
        forward(rows.count, Which::critic, only, stream);
        launch("keep_values", with, stream);
    });
}
void StreamedPolicy::review(const Arguments& a, void* stream) const {
    if (remembers()) return review_with_memory(a, stream);
    Products unless{};
    unless.found = a.policy[number_].found;
    infer(a.steps * learners_, "gather_samples", "review_streamed", unless, a, stream);
    if (!one_) find_values(a, stream);
}
void StreamedPolicy::gradient(const Arguments& a, uint64_t samples, void* stream) const {
    if (remembers()) return gradient_with_memory(a, samples, stream);
    Products unless{};
    unless.found = a.policy[number_].found;
    each_chunk(samples, [&](Rows rows) {
        const StreamArguments with = with_rows(a, rows);
        launch("gather_minibatch", with, stream);
        unless.adds = rows.first > 0;
        if (policy_.passes_rows()) pass_rows(with, stream);
        else {
            const size_t at_once = plan().last_at_once ? 1 : 0;
            forward(rows.count, Which::both, unless, stream, at_once);
            if (at_once) go_through_last(with, stream);
            else launch("slopes_streamed", with, stream);
            for (size_t l = networks_[0].layers() - at_once; --l > 0;)
                if (l == 1 && plan().first_at_once()) backward_to_first(rows.count, unless, stream);
                else backward(rows.count, l, unless, stream);
            if (convolves()) backward(rows.count, 0, unless, stream);
        }
        sum_weights(rows.count, unless, stream);
        convolve_back(rows.count, unless, stream);
    });
    kernels_.launch("total_streamed", number_, with_rows(a, {0, 0}), stream, sum_blocks_);
}

}
