#include "algorithms/common/tensor_fit.h"

#include <algorithm>
#include <learn/fused_layout.h>

namespace learn {
namespace {

constexpr int64_t most_shared_bytes = most_update_bytes;
// Of shared memory a multiprocessor has so much in all, and each block takes some more than it asks for.
constexpr int64_t processor_bytes = 228 * 1024, block_bytes = 1024;
// Of a block whose warps take rows through the layers, outside of an update.
constexpr int64_t most_stage_bytes = 48 * 1024;

}

TensorFit::TensorFit(const std::vector<int64_t>& widths, int planes, bool keeps_input) {
    const FusedLayout<int64_t> layout(widths, int(widths.size()) - 1, planes, keeps_input);
    words = uint32_t(layout.prepared);
    in_chunks = layout.in_chunks;
    threads = uint32_t(layout.threads);
    shared_bytes = uint32_t(4 * layout.words);
    band_bytes = uint32_t(4 * warp_rows * (layout.in_pitch + layout.out_pitch));
    // Four warps of up to 168 registers a thread fit three times; with two bands of samples twice; eight once.
    const int64_t most = layout.warps > 4 || planes > 1 ? 1 : layout.bands > 1 ? 2 : 3;
    resident =
        uint32_t(std::clamp<int64_t>(processor_bytes / (shared_bytes + block_bytes), 1, most));
    const auto limit = [&](const char* what, int64_t wanted, int64_t there) {
        if (obstacle.empty() && wanted > there)
            obstacle = what + std::to_string(wanted) + ", of " + std::to_string(there);
    };
    limit("the sums of gradients need this many registers of a thread: ", 8 * layout.units,
          8 * (layout.in_chunks ? most_units_in_chunks : most_units));
    limit("an update needs this many bytes of a processor's shared memory: ", 4 * layout.words,
          most_shared_bytes);
    limit("a block of choices needs this many bytes of shared memory: ",
          block_threads / 32 * int64_t(band_bytes), most_stage_bytes);
}

TensorFit tensor_fit(const PolicySettings& policy, const NetworkShape& shape) {
    TensorFit fit(shape.actor, policy.planes, policy.keeps_input());
    if (shape.shared) return fit;
    const TensorFit critic(shape.critic, policy.planes, policy.keeps_input());
    if (fit.obstacle.empty()) fit.obstacle = critic.obstacle;
    fit.in_chunks |= critic.in_chunks;
    fit.shared_bytes = std::max(fit.shared_bytes, critic.shared_bytes);
    fit.resident = std::min(fit.resident, critic.resident);
    return fit;
}

bool team_fits(const Settings& settings, const std::vector<NetworkShape>& shapes,
               const nacelle::Header& header) {
    if (header.block_threads > uint32_t(most_team_threads) || header.cluster_blocks > 1)
        return false;
    int64_t bytes = 0;
    for (size_t p = 0; p < shapes.size(); ++p)
        if (settings.policies[p].role != PolicySettings::Role::random)
            bytes += int64_t(tensor_fit(settings.policies[p], shapes[p]).band_bytes) *
                     bands_of_team(int(header.env_threads), int(header.policy[p].agents));
    bytes *= (header.block_threads + 31) / 32;
    return bytes <= most_stage_bytes && bytes + header.shared_bytes <= most_shared_bytes;
}

}
