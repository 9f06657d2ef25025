#include "algorithms/policy_gradient/plan/rollout.h"

#include "algorithms/policy_gradient/plan/plan.h"

#include <algorithm>

namespace learn {

uint64_t remembering_bytes(const PolicySettings& policy, const NetworkShape& shape) {
    std::vector<Cell> cells = shape.cells;
    cells.push_back(Cell::linear);
    uint64_t words = 4;    // flags
    for (const auto* widths : {&shape.actor, &shape.critic})
        if (!widths->empty())
            words += uint64_t(MemoryStage(*widths, cells, int(cells.size()), policy.planes).words);
    return 4 * words;
}

namespace {

// Whether a GPU's blocks take all steps of a rollout that remembers in one launch.
bool keeps_memory(const Settings& settings, const std::vector<NetworkShape>& shapes,
                  const nacelle_environment& environment) {
    const nacelle::Header& header = SchemaView(environment).header();
    if (settings.stepwise || header.is_team || header.has_image || settings.acting() != 1)
        return false;
    const PolicySettings& policy = settings.policies[0];
    return policy.role == PolicySettings::Role::trained && policy.streamed() &&
           policy.remembers() && shapes[0].encoder.count == 0 &&
           remembering_bytes(policy, shapes[0]) <=
               std::min<uint64_t>(most_remembering_bytes,
                                  uint64_t(shared_bytes_of(environment.compute)));
}

// Whether a CPU takes the rows of several teams through the networks at once, which one launch for all steps does not:
// products read all weights for as few rows as a team has. From 32 rows on that is no loss, and one team alone has no others.
bool is_of_small_teams(const nacelle::Header& header, uint64_t envs) {
    constexpr uint32_t most_rows = 32;
    constexpr uint64_t fewest_teams = 4;
    uint32_t rows = 0;
    for (uint32_t g = 0; g < header.groups; ++g) rows = std::max(rows, header.group[g].count);
    return header.is_team && rows < most_rows && envs >= fewest_teams;
}

}

Rollout rollout_of(const Settings& settings, const std::vector<NetworkShape>& shapes,
                   const nacelle_environment& environment) {
    const nacelle::Header& header = SchemaView(environment).header();
    const bool gpu = environment.on_gpu || settings.emulates;
    if (gpu && keeps_memory(settings, shapes, environment)) return Rollout::remembering;
    bool steps = settings.stepwise || settings.external || header.has_image;
    if (gpu && !steps && !header.is_team &&
        residence_bytes(settings.policies[0], shapes[0], environment))
        return Rollout::resident;
    if (gpu && !steps && header.is_team && team_residence_bytes(settings, shapes, environment))
        return Rollout::resident_teams;
    for (size_t p = 0; p < settings.acting(); ++p) {
        const PolicySettings& policy = settings.policies[p];
        steps |= policy.streamed() || policy.remembers();
        if (gpu && policy.role != PolicySettings::Role::random)
            steps |= tensor_fit(policy, shapes[p], environment.compute).in_chunks;
    }
    if (gpu && header.is_team && !settings.emulates)
        steps |= !steps && !team_fits(settings, shapes, header);
    steps |= !gpu && is_of_small_teams(header, environment.envs);
    if (steps) return Rollout::steps;
    if (gpu) return header.is_team ? Rollout::teams : Rollout::warps;
    return Rollout::blocks;
}

int warp_envs(const Settings& settings, const NetworkShape& shape, uint64_t envs) {
    const PolicySettings& policy = settings.policies[0];
    const bool rolled = TensorFit(shape.actor, policy.planes, policy.keeps_input()).rolled;
    const uint64_t most = settings.emulates ? 24 : processors * 4 * half_rows;
    return !rolled && envs <= most ? half_rows : warp_rows;
}

}
