#include "algorithms/common/tensor_fit.h"

#include <algorithm>

namespace learn {
namespace {

constexpr int64_t most_shared_bytes = 227 * 1024, most_units = 14;
// Of shared memory a multiprocessor has so much in all, and each block takes some more than it asks for.
constexpr int64_t processor_bytes = 228 * 1024, block_bytes = 1024;
// Of a warp with two bands of samples, and of its block: most_held and most_bytes of gpu/fused/update_stage.h.
constexpr int64_t most_held = 140, most_pair_bytes = 113 * 1024;
// Of a block of four warps whose rows go through the layers, outside of an update.
constexpr int64_t most_stage_bytes = 48 * 1024, stages = 4, most_unrolled = 100;

constexpr int64_t tiles_of(int64_t width, int64_t size) { return (width + size - 1) / size; }

// How a network is cut into tiles.
struct Tiles {
    const std::vector<int64_t>& widths;
    int64_t planes = 1;
    size_t layers = widths.size() - 1;

    int64_t in(size_t l) const { return tiles_of(widths[l], 16); }
    int64_t out(size_t l) const {
        return l + 1 < layers ? 2 * in(l + 1) : tiles_of(widths[l + 1], 8);
    }
    int64_t turned(size_t l) const { return l == 0 ? 0 : in(l + 1) * 2 * in(l); }
    int64_t out_pitch() const { return 8 * out(layers - 1) + 1; }
    // Where the rows of a warp meet between two layers, or before the first and behind the last.
    int64_t stage_bytes() const {
        int64_t all = 0, widest = in(0);
        for (size_t l = 0; l < layers; ++l) all += in(l)*out(l);
        for (size_t l = 1; l < layers && all * (planes > 1 ? 2 : 1) > most_unrolled; ++l)
            widest = std::max(widest, in(l));
        return 4 * 16 * (8 * widest * planes + 4 + out_pitch());
    }
};

std::string too_much(const std::string& what, int64_t wanted, int64_t there) {
    return what + std::to_string(wanted) + ", of " + std::to_string(there);
}

}

TensorFit::TensorFit(const std::vector<int64_t>& widths, const Form& form) {
    const Tiles tiles{widths, form.planes};
    int64_t prepared = 0;
    for (size_t l = 0; l < tiles.layers; ++l)
        prepared +=
            64 * form.planes * (tiles.in(l)*tiles.out(l) + tiles.turned(l)) + 8 * tiles.out(l);
    words = uint32_t(prepared);
    fit_update(widths, form);
    if (obstacle.empty() && shared_bytes > most_shared_bytes)
        obstacle = too_much("an update needs this many bytes of a processor's shared memory: ",
                            shared_bytes, most_shared_bytes);
    if (obstacle.empty() && stages * tiles.stage_bytes() > most_stage_bytes)
        obstacle = too_much("a block of choices needs this many bytes of shared memory: ",
                            stages * tiles.stage_bytes(), most_stage_bytes);
}

void TensorFit::fit_update(const std::vector<int64_t>& widths, const Form& form) {
    const Tiles tiles{widths, form.planes};
    const int64_t widest = *std::max_element(widths.begin(), widths.end() - 1);
    const int64_t warps = widest > 64 ? 8 : 4;
    int64_t row = tiles.out_pitch(), units = 0, registers = 0;
    for (size_t l = 0; l < tiles.layers; ++l) {
        const int64_t across = (tiles.out(l) + 1) / 2;
        row += 8 * form.planes * (tiles.in(l) + tiles.in(l + 1)) + 8;
        units += tiles_of(tiles.in(l)*across, warps);
        registers += 8 * tiles.in(l) * (form.keeps_input ? 2 : 1) + 4 * tiles_of(across, warps);
    }
    const auto bytes = [&](int64_t rows) { return 16 * tiles_of(rows * row + words, 4); };
    const bool in_pairs = warps == 4 && form.planes == 1 && registers + 8 * units <= most_held &&
                          bytes(128) <= most_pair_bytes;
    threads = uint32_t(32 * warps);
    shared_bytes = uint32_t(bytes(16 * warps * (in_pairs ? 2 : 1)));
    // Four warps of up to 168 registers a thread fit three times; with two bands of samples twice; eight once.
    resident = uint32_t(std::clamp<int64_t>(processor_bytes / (shared_bytes + block_bytes), 1,
                                            warps > 4 || form.planes > 1 ? 1
                                            : in_pairs                   ? 2
                                                                         : 3));
    if (units > most_units)
        obstacle =
            too_much("the sums of gradients need this many registers of a thread: ", 8 * units,
                     8 * most_units);
}

TensorFit tensor_fit(const PolicySettings& policy, const NetworkShape& shape) {
    const TensorFit::Form form{policy.planes, policy.keeps_input()};
    TensorFit fit(shape.actor, form);
    if (shape.shared) return fit;
    const TensorFit critic(shape.critic, form);
    if (fit.obstacle.empty()) fit.obstacle = critic.obstacle;
    fit.shared_bytes = std::max(fit.shared_bytes, critic.shared_bytes);
    fit.resident = std::min(fit.resident, critic.resident);
    return fit;
}

}
