#include "algorithms/policy_gradient/plan/tensor_fit.h"

#include "algorithms/policy_gradient/plan/schema_view.h"

#include <algorithm>
#include <learn/layout/conv_tiles.h>
#include <learn/layout/fused_layout.h>
#include <learn/layout/resident_layout.h>
#include <learn/layout/row_pass.h>

namespace learn {
namespace {

constexpr int64_t most_shared_bytes = most_resident_bytes;
// Of shared memory a multiprocessor has so much in all, and each block takes some more than it asks for.
constexpr int64_t processor_bytes = 228 * 1024, block_bytes = 1024;

}

int64_t shared_bytes_of(uint32_t compute) {
    if (compute >= 120 || compute == 86 || compute == 89) return 99 * 1024;
    return compute == 0 || compute >= 90 ? most_shared_bytes : 163 * 1024;
}
bool is_hopper(const nacelle_environment& environment, bool emulates) {
    return emulates || environment.compute == 90;
}

namespace {

// Weights that all blocks bring in a step from the second-level cache: more of them take longer than launches.
constexpr int64_t most_step_bytes = 300 << 20;

bool may_reside(const PolicySettings& policy, const NetworkShape& shape) {
    return policy.streamed() && !policy.remembers() && shape.encoder.count == 0;
}
int64_t weight_bytes(const PolicySettings& policy, const NetworkShape& shape) {
    int64_t bytes = 0;
    for (const MatrixSize& matrix : shape.matrices(shape.actor))
        bytes += 2 * policy.planes * matrix.in * matrix.out;
    return bytes;
}
uint32_t staged_bytes(const PolicySettings& policy, const NetworkShape& shape,
                      const nacelle_environment& environment, int rows, int stages) {
    if (!may_reside(policy, shape)) return 0;
    const ResidentLayout<int64_t> layout(shape.actor, int(shape.actor.size()) - 1, policy.planes,
                                         rows, stages);
    const int64_t bytes = 4 * layout.words;
    return bytes <= shared_bytes_of(environment.compute) ? uint32_t(bytes) : 0;
}

}

TensorFit::TensorFit(const std::vector<int64_t>& widths, int planes, bool keeps_input) {
    const FusedLayout<int64_t> layout(widths, int(widths.size()) - 1, planes, keeps_input);
    words = uint32_t(layout.prepared);
    in_chunks = layout.in_chunks;
    rolled = layout.rolled;
    threads = uint32_t(layout.threads);
    shared_bytes = uint32_t(4 * layout.words);
    band_bytes = uint32_t(4 * warp_rows * (layout.in_pitch + layout.out_pitch));
    static_assert(wide_warps == block_threads / 32);
    sums_seen = in_chunks && wide_warps * std::max(wide_bytes(layout, 1, 8),
                                                   wide_bytes(layout, few_wide_slots, 4)) <=
                                 most_stage_bytes;
    const auto choice_bytes = [&](int slots) {
        return wide_warps * (in_chunks ? wide_bytes(layout, slots, 0) : int64_t(band_bytes));
    };
    takes_pairs = choice_bytes(few_wide_slots) <= most_stage_bytes;
    // Four warps of up to 168 registers a thread fit three times, but twice with two bands of samples of more than a small
    // network; eight once.
    const int64_t most = layout.warps > 4 || planes > 1                                 ? 1
                         : layout.bands > 1 && layout.registers > most_triple_registers ? 2
                                                                                        : 3;
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
    limit("a block of choices needs this many bytes of shared memory: ", choice_bytes(1),
          most_stage_bytes);
}

TensorFit tensor_fit(const PolicySettings& policy, const NetworkShape& shape, uint32_t compute) {
    TensorFit fit(shape.actor, policy.planes, policy.keeps_input());
    if (!shape.critic.empty()) {
        const TensorFit critic(shape.critic, policy.planes, policy.keeps_input());
        if (fit.obstacle.empty()) fit.obstacle = critic.obstacle;
        fit.in_chunks |= critic.in_chunks;
        fit.takes_pairs = fit.takes_pairs && critic.takes_pairs;
        fit.shared_bytes = std::max(fit.shared_bytes, critic.shared_bytes);
        fit.resident = std::min(fit.resident, critic.resident);
    }
    if (policy.is_critic() && fit.in_chunks && fit.obstacle.empty())
        fit.obstacle = "of a central critic it sees at most " + std::to_string(most_whole_inputs) +
                       " numbers, and here are " + std::to_string(shape.seen);
    const int64_t there = shared_bytes_of(compute);
    if (fit.obstacle.empty() && int64_t(fit.shared_bytes) > there)
        fit.obstacle = "an update needs this many bytes of a block's shared memory: " +
                       std::to_string(fit.shared_bytes) + ", of " + std::to_string(there);
    return fit;
}

uint64_t prepared_floats(const NetworkShape& shape, const PolicySettings& policy) {
    const auto words = [&](const std::vector<int64_t>& widths) -> uint64_t {
        const std::vector<MatrixSize> matrices = shape.matrices(widths);
        if (policy.streamed())
            return uint64_t(conv_words(shape.encoder, policy.planes)) +
                   tiled_words(matrices, int(matrices.size()), policy.planes);
        return TensorFit(widths, policy.planes, policy.keeps_input()).words;
    };
    return second_network_at(words(shape.actor)) + (shape.shared ? 0 : words(shape.critic));
}

uint32_t resident_bytes(const PolicySettings& policy, const NetworkShape& shape,
                        const nacelle_environment& environment, int rows) {
    return staged_bytes(policy, shape, environment, rows, 0);
}
uint32_t residence_bytes(const PolicySettings& policy, const NetworkShape& shape,
                         const nacelle_environment& environment) {
    if (!policy.streamed()) return 0;
    const int layers = int(shape.actor.size()) - 1,
              stages =
                  resident_stages_for<int64_t>(shape.actor, layers, policy.planes, resident_envs);
    const int64_t blocks = (int64_t(environment.envs) + resident_envs - 1) / resident_envs;
    if (stages > 0 && weight_bytes(policy, shape) * blocks > most_step_bytes) return 0;
    return staged_bytes(policy, shape, environment, resident_envs, stages);
}

uint32_t team_residence_bytes(const Settings& settings, const std::vector<NetworkShape>& shapes,
                              const nacelle_environment& environment) {
    const nacelle::Header& header = SchemaView(environment).header();
    const int threads = int(header.block_threads), teams = threads / int(header.env_threads);
    int64_t bytes = 0, weights = 0;
    for (size_t p = 0; p < settings.acting(); ++p) {
        const PolicySettings& policy = settings.policies[p];
        if (policy.role == PolicySettings::Role::random) continue;
        if (!may_reside(policy, shapes[p])) return 0;
        // Of two sides one goes through at a time.
        const int sides = policy.past.form == Against::sides ? 2 : 1,
                  rows = resident_team_rows(teams, int(header.policy[p].agents) / sides);
        const auto& widths = shapes[p].actor;
        bytes += 4 * ResidentLayout<int64_t>(widths, int(widths.size()) - 1, policy.planes, rows,
                                             team_stages, threads / 32)
                         .words;
        weights += weight_bytes(policy, shapes[p]);
        if (!settings.emulates && rows > most_resident_team_rows) return 0;
    }
    if (settings.emulates || bytes == 0) return uint32_t(bytes > 0);
    bytes += (int64_t(header.shared_bytes) + 15) / 16 * 16;
    const int64_t blocks = (int64_t(environment.envs) + teams - 1) / teams;
    const bool fits = header.env_threads <= 32 && header.cluster_blocks <= 1 &&
                      bytes <= shared_bytes_of(environment.compute) &&
                      weights * blocks <= most_step_bytes;
    return fits ? uint32_t(bytes) : 0;
}

std::string row_pass_obstacle(const PolicySettings& policy, const NetworkShape& shape,
                              const nacelle_environment& environment, bool emulates) {
    if (!is_hopper(environment, emulates)) return "it needs a GPU of capability 9.0";
    if (policy.remembers()) return "a layer that remembers is none of its layers";
    if (shape.encoder.count) return "convolutions are none of its layers";
    const auto fits = [&](const std::vector<int64_t>& widths) {
        return row_pass_fits(widths, int(widths.size()) - 1, policy.planes);
    };
    if (fits(shape.actor)) return {};
    return "it has hidden layers, of at most " + std::to_string(row_pass_columns) +
           " neurons behind as many numbers seen, and at most " + std::to_string(row_pass_outputs) +
           " outputs, whose levels fit into a processor's shared memory";
}
// The critic, whose only output the actor has at least, has the same blocks.
uint32_t row_pass_bytes_of(const NetworkShape& shape, int planes) {
    return RowPassLayout(shape.actor, int(shape.actor.size()) - 1, planes).bytes();
}

bool team_fits(const Settings& settings, const std::vector<NetworkShape>& shapes,
               const nacelle::Header& header) {
    if (header.block_threads > uint32_t(most_team_threads) || header.cluster_blocks > 1)
        return false;
    int64_t bytes = 0;
    for (size_t p = 0; p < settings.acting(); ++p)
        if (settings.policies[p].role != PolicySettings::Role::random)
            bytes += int64_t(tensor_fit(settings.policies[p], shapes[p], 0).band_bytes) *
                     bands_of_team(int(header.env_threads), int(header.policy[p].agents));
    bytes *= (header.block_threads + 31) / 32;
    return bytes <= most_stage_bytes && bytes + header.shared_bytes <= most_shared_bytes;
}

}
