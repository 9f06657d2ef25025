#include "algorithms/off_policy/networks.h"

#include "algorithms/policy_gradient/plan/plan.h"
#include "algorithms/replay/policy.h"

#include <algorithm>
#include <learn/cpu/streamed/arguments.h>

namespace off_policy {

template <class T>
T* Arrays::numbers(const std::string& name, std::initializer_list<uint64_t> shape,
                   bool persistent) const {
    const std::vector<int64_t> sizes(shape.begin(), shape.end());
    constexpr nacelle::Dtype dtype = std::is_same_v<T, float>     ? nacelle::Dtype::f32
                                     : std::is_same_v<T, double>  ? nacelle::Dtype::f64
                                     : std::is_same_v<T, int64_t> ? nacelle::Dtype::i64
                                                                  : nacelle::Dtype::u32;
    return static_cast<T*>(host_.array_create(name, uint32_t(dtype), sizes, persistent).data);
}
template float* Arrays::numbers<float>(const std::string&, std::initializer_list<uint64_t>,
                                       bool) const;
template double* Arrays::numbers<double>(const std::string&, std::initializer_list<uint64_t>,
                                         bool) const;
template int64_t* Arrays::numbers<int64_t>(const std::string&, std::initializer_list<uint64_t>,
                                           bool) const;

Matrix Arrays::into(const std::string& name, uint64_t width, uint64_t rows) const {
    if (!place_.on_gpu) return out_of(name, width, rows);
    const uint32_t across = learn::tiles_along(width);
    const uint64_t plane = learn::whole_blocks(rows) * across * learn::tile_side;
    auto* const words = numbers<uint32_t>(name, {plane * uint64_t(place_.planes) / 2}, false);
    return {{reinterpret_cast<uint16_t*>(words), plane, across}, nullptr, 0};
}
Matrix Arrays::out_of(const std::string& name, uint64_t width, uint64_t rows) const {
    const uint64_t pitch = place_.on_gpu ? learn::in_fours(width) : width,
                   room = (rows + learn::task_rows - 1) / learn::task_rows * learn::task_rows;
    return {{}, numbers<float>(name, {room * pitch + learn::levels_slack}, false), uint32_t(pitch)};
}

namespace {

// Where a GPU has a network's layers, and into how many shares it cuts the rows of their gradients: as many as fill the
// multiprocessors.
void lay_out(Networks& networks, const std::vector<learn::MatrixSize>& matrices, const Place& place,
             uint64_t rows) {
    const int count = int(matrices.size());
    uint64_t blocks = 0;
    for (const learn::MatrixSize& matrix : matrices)
        blocks += networks.count * learn::product_blocks(uint64_t(matrix.out), uint64_t(matrix.in),
                                                         learn::weight_columns);
    const uint64_t steps = learn::tiles_along(rows),
                   at_once = learn::processors *
                             learn::product_resident(place.planes, learn::weight_columns),
                   most = place.emulates ? 2 : std::max<uint64_t>(at_once / blocks, 1),
                   splits = std::clamp<uint64_t>(most, 1, std::max<uint64_t>(steps / 2, 1));
    for (int m = 0; m < count; ++m) {
        Layer& layer = networks.layer[m];
        layer.pitch = learn::in_fours(layer.in);
        layer.slot_floats = layer.out * layer.pitch + learn::in_fours(layer.out);
        layer.splits = uint32_t(splits);
        layer.gradient = networks.gradient_floats;
        networks.gradient_floats += splits * layer.slot_floats;
        layer.tiles = learn::tiled_weights_before(matrices, m, place.planes);
        layer.plane = learn::tiled_numbers(matrices[size_t(m)]);
        layer.biases = uint32_t(learn::tiled_weights_before(matrices, count, place.planes) / 2 +
                                learn::tiled_biases_before(matrices, m));
    }
    networks.prepared_floats =
        learn::second_network_at(learn::tiled_words(matrices, count, place.planes));
}

}

Networks make_networks(const Arrays& arrays, const std::string& name,
                       const std::vector<int64_t>& widths, uint32_t count, uint32_t number,
                       bool followed, uint64_t rows) {
    Networks networks{};
    networks.count = count;
    networks.layers = uint32_t(widths.size() - 1);
    std::vector<learn::MatrixSize> matrices, of_all;
    for (size_t l = 0; l + 1 < widths.size(); ++l) {
        const learn::MatrixSize matrix{widths[l], widths[l + 1]};
        Layer& layer = networks.layer[l];
        layer.in = uint32_t(matrix.in);
        layer.out = uint32_t(matrix.out);
        layer.parameter = networks.parameters;
        networks.parameters += uint32_t(learn::parameters_in(matrix));
        matrices.push_back(matrix);
    }
    for (uint32_t n = 0; n < count; ++n)
        of_all.insert(of_all.end(), matrices.begin(), matrices.end());
    const Place& place = arrays.place();
    if (place.on_gpu) lay_out(networks, matrices, place, rows);
    const nacelle::plugin::Host& host = arrays.host();
    const std::vector<float> first = replay::first_weights(of_all, host.environment().seed, number);
    const uint64_t all = first.size();
    networks.weights = arrays.numbers<float>(name + ".weights", {all}, true);
    host.write(networks.weights, first.data(), all * sizeof(float));
    if (followed) {
        networks.following = arrays.numbers<float>(name + ".following", {all}, true);
        host.write(networks.following, first.data(), all * sizeof(float));
    }
    networks.moments = arrays.numbers<float>(name + ".moments", {2, all}, true);
    networks.updates = arrays.numbers<double>(name + ".updates", {1}, true);
    networks.total = arrays.numbers<float>(name + ".gradient", {all}, false);
    networks.norms = arrays.numbers<double>(
        name + ".norms", {(all + learn::block_threads - 1) / learn::block_threads}, false);
    if (!place.on_gpu) return networks;
    networks.gradient =
        arrays.numbers<float>(name + ".slots", {count * networks.gradient_floats}, false);
    const uint64_t prepared = count * networks.prepared_floats;
    networks.prepared = arrays.numbers<float>(name + ".prepared", {prepared}, false);
    if (followed)
        networks.prepared_following =
            arrays.numbers<float>(name + ".following.prepared", {prepared}, false);
    return networks;
}

}
