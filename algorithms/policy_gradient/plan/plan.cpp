#include "algorithms/policy_gradient/plan/plan.h"

#include <algorithm>
#include <learn/layout/row_pass.h>

namespace learn {
namespace {

// Parts of an update that sum apart, whatever the machine, so that results do not depend on it: enough
// for all processors, and few enough that adding them up costs little. A wide network has many sums.
constexpr uint32_t cpu_parts = 32, emulated_parts = 3;

// On tensor cores as many blocks as an H100 or H200 has room for, a half for each of two networks.
uint32_t parts_of(const PolicyPlan& plan, const RunPlan& run, bool emulates) {
    if (!run.on_gpu) return cpu_parts;
    if (emulates) return emulated_parts;
    if (plan.passes_rows) return processors / plan.networks;
    if (plan.is_streamed()) return 2 * processors;
    return processors * plan.fit.resident / plan.networks;
}
void plan_products(PolicyPlan& plan, const NetworkShape& shape, bool with_backward) {
    const auto add = [&](int64_t columns, PolicyPlan::Columns& found) {
        (columns_for(uint64_t(columns), plan.planes) == 64 ? found.in_64 : found.in_128) = true;
    };
    for (const auto* widths : {&shape.actor, &shape.critic}) {
        const std::vector<MatrixSize> matrices = shape.matrices(*widths);
        for (size_t m = 0; m < matrices.size(); ++m) {
            add(matrices[m].out, plan.forward);
            if ((m > 0 || shape.encoder.count) && with_backward) add(matrices[m].in, plan.backward);
        }
    }
}
// Clusters are for Hopper; an emulation goes through the same parts.
bool has_clusters(const NetworkShape& shape, const PolicySettings& policy, bool hopper) {
    if (!hopper) return false;
    for (const auto* widths : {&shape.actor, &shape.critic})
        for (const MatrixSize& matrix : shape.matrices(*widths))
            if (fits_clusters(uint64_t(matrix.in), policy.planes) ||
                fits_clusters(uint64_t(matrix.out), policy.planes))
                return true;
    return false;
}
// Whether the last layers' part of a gradient is one kernel. It keeps what comes out of an activation, not what went in, so
// that the slope has to follow from that alone.
bool has_last_at_once(const NetworkShape& shape, const PolicySettings& policy, uint32_t compute) {
    if (!policy.streamed() || policy.remembers() || policy.keeps_input() || policy.passes_rows())
        return false;
    for (const auto* widths : {&shape.actor, &shape.critic}) {
        if (widths->empty()) continue;
        const std::vector<MatrixSize> matrices = shape.matrices(*widths);
        const MatrixSize& last = matrices.back();
        if (matrices.size() < 2 ||
            !fits_last_layer(uint64_t(last.in), uint64_t(last.out), policy.planes) ||
            last_layer_bytes(uint64_t(last.in), policy.planes) > shared_bytes_of(compute))
            return false;
    }
    return true;
}
// Of how many clusters each stripe of the first layers' columns is, where their gradient is made of slopes as soon as there
// are such: behind few numbers, where rows are for clusters. Else none.
uint32_t stripe_turns_of(const Settings& settings, const PolicySettings& policy,
                         const NetworkShape& shape, uint64_t rows) {
    const std::vector<MatrixSize> matrices = shape.matrices(shape.actor);
    if (policy.planes != 1 || policy.remembers() || policy.passes_rows() ||
        shape.encoder.count > 0 || matrices.size() < 3 ||
        uint64_t(matrices[0].in) > most_few_inputs ||
        !fits_clusters(uint64_t(matrices[0].out), policy.planes))
        return 0;
    const uint64_t minibatch = divided_up(rows, settings.minibatches),
                   down = divided_up(minibatch, cluster_rows),
                   stripes = cluster_parts(1, uint64_t(matrices[0].out), policy.planes) *
                             uint64_t(shape.networks());
    if (settings.emulates) return uint32_t(std::min<uint64_t>(2, down));
    if (stripes > most_clusters || stripes * down < fewest_cluster_parts) return 0;
    return uint32_t(std::min(most_clusters / stripes, down));
}
void plan_grus(PolicyPlan& plan, const Settings& settings, const PolicySettings& policy) {
    for (size_t l = 0; l < policy.cells.size(); ++l) {
        if (policy.cells[l] != Cell::gru) continue;
        const uint32_t room = gru_room_of(settings, policy.hidden[l], policy.planes);
        (room == 64 ? plan.gru_in_64 : room == 128 ? plan.gru_in_128 : plan.gru_in_steps) = true;
    }
}
// What holds of a policy wherever its network is computed.
PolicyPlan policy_of(const RunPlan& run, const Settings& settings, const PolicySettings& policy,
                     const NetworkShape& shape, uint32_t number) {
    using Role = PolicySettings::Role;
    PolicyPlan plan;
    const bool is_random = policy.role == Role::random;
    if (settings.external && !is_random) plan.execution = Execution::external;
    else if (is_random && run.on_gpu) plan.execution = Execution::random;
    else plan.execution = policy.streamed() ? Execution::streamed : Execution::fused;
    plan.has_network = !is_random && plan.execution != Execution::external;
    plan.learns = policy.role == Role::trained;
    plan.remembers = policy.remembers();
    plan.is_critic = policy.is_critic();
    plan.separate = !shape.critic.empty() || plan.is_critic;
    plan.traced = settings.traced;
    plan.scales_minibatches = settings.scales_advantages == 2;
    plan.against_past = policy.past.form != Against::none;
    plan.layered = policy.wide_on_cpu;
    plan.rows = run.envs * policy.agents;
    plan.width = uint64_t(shape.seen);
    plan.learners = policy.learning(number, run.envs);
    plan.members = uint64_t(policy.past.members);
    plan.parameters = uint64_t(shape.parameters());
    plan.slot_floats = uint64_t(shape.gradient_floats());
    plan.networks = uint32_t(shape.networks());
    plan.planes = policy.planes;
    plan.encoder = shape.encoder;
    if (settings.peers) plan.shots = peer_shots(plan.parameters, settings.ranks);
    plan.hands_over_gradient = settings.ranks > 1 && plan.shots == 0;
    if (policy.remembers()) plan.sequence = settings.sequence;
    return plan;
}
// Its kernels, where layers go through memory.
void plan_streamed(PolicyPlan& plan, const RunPlan& run, const Settings& settings,
                   const PolicySettings& policy, const NetworkShape& shape,
                   const nacelle_environment& environment) {
    const bool hopper = is_hopper(environment, settings.emulates),
               learns = plan.is_streamed() && plan.learns;
    plan.passes_rows = policy.passes_rows();
    plan_products(plan, shape, plan.learns && !plan.passes_rows);
    if (plan.passes_rows) {
        plan.pass_bytes = row_pass_bytes_of(shape, policy.planes);
        plan.ends_at_once =
            row_pass_sums_ends(plan.width, uint64_t(shape.actor.back()), policy.planes);
    }
    plan.last_at_once = has_last_at_once(shape, policy, environment.compute);
    plan.in_clusters = has_clusters(shape, policy, hopper);
    if (plan.learns) plan_grus(plan, settings, policy);
    if (learns && hopper)
        plan.stripe_turns = stripe_turns_of(settings, policy, shape, run.steps * plan.learners);
}
// Blocks that keep its weights, where they have room for them.
void plan_residents(PolicyPlan& plan, const Settings& settings, const PolicySettings& policy,
                    const NetworkShape& shape, const nacelle_environment& environment) {
    if (settings.stepwise || !policy.streamed() || SchemaView(environment).header().has_image)
        return;
    const int rows =
        resident_rows_for<int64_t>(shape.actor, int(shape.actor.size()) - 1, policy.planes);
    plan.resident_bytes = resident_bytes(policy, shape, environment, rows);
    plan.resident_rows = uint64_t(rows);
    plan.resident_blocks = uint64_t(settings.emulates ? emulated_blocks : resident_blocks);
    // Of very many rows large products of their own are quicker.
    constexpr uint64_t most_turns = 4;
    plan.resides = plan.resident_bytes > 0 &&
                   plan.rows <= most_turns * uint64_t(resident_blocks) * uint64_t(rows);
}
PolicyPlan policy_plan(const RunPlan& run, const Settings& settings, const PolicySettings& policy,
                       const NetworkShape& shape, const nacelle_environment& environment,
                       uint32_t number) {
    PolicyPlan plan = policy_of(run, settings, policy, shape, number);
    if (plan.execution == Execution::external) {
        plan.parts = 1;
        return plan;
    }
    if (policy.streamed()) plan_streamed(plan, run, settings, policy, shape, environment);
    plan.last_width = uint64_t(shape.actor[shape.actor.size() - 2]);
    if (run.on_gpu && plan.execution == Execution::fused)
        plan.fit = tensor_fit(policy, shape, environment.compute);
    plan.parts = parts_of(plan, run, settings.emulates);
    if (!run.on_gpu || !plan.is_streamed()) plan.parts *= settings.shards;
    plan_residents(plan, settings, policy, shape, environment);
    return plan;
}
RunPlan run_plan(const Settings& settings, const std::vector<NetworkShape>& shapes,
                 const nacelle_environment& environment) {
    const nacelle::Header& header = SchemaView(environment).header();
    RunPlan run;
    run.on_gpu = environment.on_gpu || settings.emulates;
    run.learning_apart = environment.on_gpu && !settings.emulates;
    run.among_ranks = settings.ranks > 1;
    run.hands_over = settings.ranks > 1 && !settings.peers;
    run.keeps_pairs = settings.keeps_pairs;
    run.rollout = rollout_of(settings, shapes, environment);
    run.envs = environment.envs;
    run.steps = settings.horizon;
    run.shards = settings.shards;
    // Totals of neighbouring environments of one agent are one thread's.
    if (!header.is_team) run.share = nacelle::group_envs;
    const PolicySettings& first = settings.policies[0];
    if (run.rollout == Rollout::warps) run.warp_envs = warp_envs(settings, shapes[0], run.envs);
    if (run.rollout == Rollout::resident) {
        run.threads = resident_threads;
        run.shared_bytes = residence_bytes(first, shapes[0], environment);
    }
    if (run.rollout == Rollout::resident_teams) {
        run.threads = header.block_threads;
        run.shared_bytes = team_residence_bytes(settings, shapes, environment);
        run.team_blocks = divided_up(run.envs, header.block_threads / header.env_threads);
    }
    if (run.rollout == Rollout::remembering) {
        const std::vector<int64_t>& widths = shapes[0].actor;
        run.threads = remembering_threads(widths, int(widths.size()) - 1);
        run.shared_bytes = uint32_t(remembering_bytes(first, shapes[0]));
    }
    return run;
}

}

Plan::Plan(const Settings& settings, const std::vector<NetworkShape>& shapes,
           const nacelle_environment& environment)
    : run(run_plan(settings, shapes, environment)) {
    const PolicySettings& first = settings.policies[0];
    if (run.on_gpu && run.rollout == Rollout::steps && first.past.form != Against::none)
        wrong("policies." + first.name + ".opponents",
              "a GPU plays the past where all steps of a rollout are one launch: with layers that "
              "do not remember, no convolutions, \"rollout\": \"auto\", and networks and teams "
              "that fit into its blocks (layers of 512 neurons do on an H100); a CPU plays it with "
              "any");
    add_groups(settings, environment);
    for (uint32_t p = 0; p < shapes.size(); ++p) {
        const PolicyPlan& policy = policies.emplace_back(
            policy_plan(run, settings, settings.policies[p], shapes[p], environment, p));
        run.learns |= policy.learns;
        if (policy.learns && !policy.is_critic)
            run.learning_blocks += agent_blocks(policy.learners, settings.shards);
        if (run.on_gpu && policy.is_streamed()) add_convolutions(p, settings.policies[p]);
    }
    const nacelle::Header& header = SchemaView(environment).header();
    for (uint32_t g = 0; g < header.groups; ++g)
        if (!header.group[g].has_turn) share_sights(g, settings, shapes);
}
std::optional<Plan> Plan::of_draft(Settings settings, const std::vector<NetworkShape>& shapes,
                                   const nacelle_environment& environment) {
    const Rollout in_full = rollout_of(settings, shapes, environment);
    const bool plays_past = settings.policies[0].past.form != Against::none;
    if ((in_full != Rollout::warps && in_full != Rollout::teams) || plays_past) return std::nullopt;
    settings.stepwise = true;
    Plan plan(settings, shapes, environment);
    plan.run.drafted = in_full == Rollout::warps;
    return plan;
}
void Plan::add_groups(const Settings& settings, const nacelle_environment& environment) {
    const SchemaView schema(environment);
    for (uint32_t g = 0; g < schema.header().groups; ++g) {
        GroupPlan& group = groups.emplace_back();
        group.rows = run.envs * schema.header().group[g].count;
        group.width = schema.seen(g);
        group.kept_parts = settings.keeps_pairs ? kept_words(group.width) : group.width;
        group.has_images = schema.image_elements(g) > 0;
    }
    if (!settings.overview) return;
    GroupPlan& all = groups.emplace_back();
    all.rows = run.envs;
    all.width = all.kept_parts = settings.overview;
    all.is_overview = true;
}
void Plan::add_convolutions(uint32_t number, const PolicySettings& policy) {
    const Encoder& encoder = policies[number].encoder;
    policies[number].first_convolution = uint32_t(convolutions.size());
    for (int l = 0; l < encoder.count; ++l) {
        ConvPlan& plan =
            convolutions.emplace_back(ConvPlan{.policy = number, .layer = uint32_t(l)});
        plan.forward = forward_block(encoder, l, policy.planes, policy.keeps_input());
        plan.weights = weights_block(encoder, l, policy.planes);
        if (l > 0) plan.backward = backward_block(encoder, l, policy.planes);
    }
}

}
