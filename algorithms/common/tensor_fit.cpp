#include "algorithms/common/tensor_fit.h"

#include <algorithm>

namespace learn {
namespace {

constexpr uint32_t most_shared_bytes = 227 * 1024, most_units = 14;

constexpr int64_t tiles_of(int64_t width, int64_t size) { return (width + size - 1) / size; }

}

TensorFit::TensorFit(const std::vector<int64_t>& widths) {
    const size_t layers = widths.size() - 1;
    const int64_t widest = *std::max_element(widths.begin(), widths.end() - 1);
    const int64_t warps = widest > 64 ? 8 : 4, samples = 16 * warps;
    const auto in_tiles = [&](size_t l) { return tiles_of(widths[l], 16); };
    const auto out_tiles = [&](size_t l) {
        return l + 1 < layers ? 2 * in_tiles(l + 1) : tiles_of(widths[l + 1], 8);
    };
    const auto pitch = [&](size_t l) { return 8 * in_tiles(l) + 4; };
    int64_t held = 0, prepared = 0, sums = 0;
    for (size_t l = 0; l < layers; ++l) held += pitch(l) + pitch(l + 1);
    for (size_t l = 0; l < layers; ++l) {
        prepared += 64 * in_tiles(l) * out_tiles(l) + 8 * out_tiles(l);
        if (l > 0) prepared += 64 * in_tiles(l + 1) * 2 * in_tiles(l);
        sums += tiles_of(in_tiles(l) * ((out_tiles(l) + 1) / 2), warps);
    }
    const int64_t out = samples * (8 * out_tiles(layers - 1) + 1);
    threads = uint32_t(32 * warps);
    for (size_t l = 0; l < layers; ++l) too_wide |= out_tiles(l) * 4 > 32 * warps;
    words = uint32_t(prepared);
    units = uint32_t(sums);
    shared_bytes = uint32_t(4 * ((held * samples + prepared + out + 3) / 4 * 4));
}

std::string TensorFit::obstacle() const {
    if (too_wide) return "a layer has more than " + std::to_string(2 * threads) + " outputs";
    if (shared_bytes > most_shared_bytes)
        return "their update needs " + std::to_string(shared_bytes / 1024 + 1) +
               " KB of a processor's shared memory, of " + std::to_string(most_shared_bytes / 1024);
    if (units > most_units)
        return "the sums of their gradients need " + std::to_string(8 * units) +
               " registers of a thread, of " + std::to_string(8 * most_units);
    return {};
}

std::string tensor_obstacle(const NetworkShape& shape) {
    std::string obstacle = TensorFit(shape.actor).obstacle();
    if (obstacle.empty() && !shape.shared) obstacle = TensorFit(shape.critic).obstacle();
    return obstacle;
}

}
