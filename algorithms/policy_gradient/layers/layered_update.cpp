#include "algorithms/policy_gradient/layers/layered_update.h"

#include <algorithm>

namespace learn {

bool is_wide(const PolicySettings& policy, const NetworkShape& shape) {
    // Its products know plain layers alone: those that remember go through cpu/sequences.h, convolutions through cpu/conv.h.
    if (policy.remembers() || shape.encoder.count) return false;
    // From here on the weights of a tile's layers and their gradients no longer lie in a core's cache.
    constexpr int64_t many_parameters = 32768;
    return shape.parameters() > many_parameters;
}

// As many rows at once as keep their levels in a shared cache, and enough to be shared.
LayeredUpdate::LayeredUpdate(nacelle::plugin::Host host, const Kernels& kernels,
                             const Settings& settings, const NetworkShape& shape, uint32_t number)
    : host_(host),
      kernels_(kernels),
      policy_(settings.policies[number]),
      number_(number),
      agents_(kernels.plan().policies[number].learners),
      shards_(settings.shards) {
    constexpr uint64_t floats_at_once = uint64_t(8) << 20, fewest = 512, most = 8192;
    networks_.push_back(shape.actor);
    if (!shape.critic.empty()) networks_.push_back(shape.critic);
    numbers_ = uint64_t(shape.actor[0]);
    for (const auto& widths : networks_)
        numbers_ += level_numbers(widths, int(widths.size()) - 1, policy_.keeps_input());
    const uint64_t minibatch =
        divided_up(settings.horizon * agents_ / shards_, settings.minibatches);
    const uint64_t rows = std::min(minibatch, std::clamp(floats_at_once / numbers_, fewest, most));
    room_ = tasks_along(rows, task_rows) * task_rows;
}

void LayeredUpdate::make_levels() {
    const std::vector<int64_t> sizes = {int64_t(numbers_ * room_ + levels_slack)};
    levels_ = static_cast<float*>(host_
                                      .array_create(policy_.name + ".policy.levels",
                                                    uint32_t(nacelle::Dtype::f32), sizes, false)
                                      .data);
}

template <class Fn>
void LayeredUpdate::each_part(const Arguments& a, uint64_t begin, uint64_t end, Fn&& fn) const {
    LayerArguments with{.all = a,
                        .levels = levels_,
                        .room = room_,
                        .first = 0,
                        .rows = 0,
                        .network = 0,
                        .layer = 0,
                        .shard = 0,
                        .adds = 0,
                        .reviews = 0};
    for (uint64_t first = begin; first < end; first += room_) {
        with.first = uint32_t(first);
        with.rows = uint32_t(std::min<uint64_t>(end - first, room_));
        with.adds = first > begin;
        fn(with);
    }
}
void LayeredUpdate::forward(LayerArguments& a, void* stream) const {
    const uint64_t bands = tasks_along(a.rows, task_rows);
    launch("see_rows", bands, a, stream);
    for (a.network = 0; a.network < networks_.size(); ++a.network) {
        const auto& widths = networks_[a.network];
        for (a.layer = 0; a.layer + 1 < widths.size(); ++a.layer)
            launch("forward_layer",
                   bands * tasks_along(uint64_t(widths[a.layer + 1]), task_neurons), a, stream);
    }
}
void LayeredUpdate::backward(LayerArguments& a, void* stream) const {
    const uint64_t bands = tasks_along(a.rows, task_rows);
    for (a.network = 0; a.network < networks_.size(); ++a.network) {
        const auto& widths = networks_[a.network];
        for (a.layer = uint32_t(widths.size() - 1); a.layer-- > 0;) {
            launch("layer_gradient", weight_tasks(widths[a.layer], widths[a.layer + 1]), a, stream);
            if (a.layer > 0)
                launch("backward_layer",
                       bands * tasks_along(uint64_t(widths[a.layer]), task_neurons), a, stream);
        }
    }
}
void LayeredUpdate::gradient(const Arguments& a, uint64_t samples, void* stream) const {
    const uint64_t each = samples / shards_;
    for (uint32_t shard = 0; shard < shards_; ++shard)
        each_part(a, shard * each, (shard + 1) * each, [&](LayerArguments& with) {
            with.shard = shard;
            forward(with, stream);
            launch("find_slopes", 0, with, stream);
            backward(with, stream);
        });
}
void LayeredUpdate::review(const Arguments& a, void* stream) const {
    each_part(a, 0, a.steps * agents_, [&](LayerArguments& with) {
        with.reviews = 1;
        forward(with, stream);
        launch("review_rows", with.rows, with, stream);
    });
}

}
