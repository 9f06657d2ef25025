#include "algorithms/policy_gradient/plan/owners.h"

#include "algorithms/policy_gradient/plan/rollout_form.h"

#include <algorithm>
#include <learn/layout/row_pass.h>

namespace learn {
namespace {

// Parts of an update that sum apart, whatever the machine, so that results do not depend on it: enough
// for all processors, and few enough that adding them up costs little. A wide network has many sums.
constexpr uint32_t cpu_parts = 32, emulated_parts = 3;

// On tensor cores as many blocks as an H100 or H200 has room for, a half for each of two networks.
uint32_t parts_of(const Owner& owner, bool emulates) {
    if (owner.is(on_cpu)) return cpu_parts;
    if (emulates) return emulated_parts;
    if (owner.is(row_passed)) return processors / owner.networks;
    if (owner.is(streamed)) return 2 * processors;
    return processors * owner.fit.resident / owner.networks;
}
uint64_t product_facts(const NetworkShape& shape, const PolicySettings& policy,
                       bool with_backward) {
    uint64_t facts = 0;
    const auto add = [&](int64_t columns, Fact narrow, Fact wide) {
        facts |= columns_for(uint64_t(columns), policy.planes) == 64 ? narrow : wide;
    };
    for (const auto* widths : {&shape.actor, &shape.critic}) {
        const std::vector<MatrixSize> matrices = shape.matrices(*widths);
        for (size_t m = 0; m < matrices.size(); ++m) {
            add(matrices[m].out, narrow_forward, wide_forward);
            if ((m > 0 || shape.encoder.count) && with_backward)
                add(matrices[m].in, narrow_backward, wide_backward);
        }
    }
    return facts;
}
// Clusters are for Hopper; an emulation goes through the same parts.
uint64_t cluster_facts(const NetworkShape& shape, const PolicySettings& policy, bool hopper) {
    if (!hopper) return 0;
    for (const auto* widths : {&shape.actor, &shape.critic})
        for (const MatrixSize& matrix : shape.matrices(*widths))
            if (fits_clusters(uint64_t(matrix.in), policy.planes) ||
                fits_clusters(uint64_t(matrix.out), policy.planes))
                return in_clusters;
    return 0;
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
uint64_t gru_facts(const Settings& settings, const PolicySettings& policy) {
    uint64_t facts = 0;
    for (size_t l = 0; l < policy.cells.size(); ++l) {
        if (policy.cells[l] != Cell::gru) continue;
        const uint32_t room = gru_room_of(settings, policy.hidden[l], policy.planes);
        facts |= room == 64 ? gru_in_64 : room == 128 ? gru_in_128 : gru_in_steps;
    }
    return facts;
}
Owner policy_owner(Owner owner, const Settings& settings, const PolicySettings& policy,
                   const NetworkShape& shape, const nacelle_environment& environment,
                   uint32_t number) {
    const bool hopper = is_hopper(environment, settings.emulates);
    using Role = PolicySettings::Role;
    owner.rows = owner.envs * policy.agents;
    owner.learners = policy.learning(number, owner.envs);
    owner.members = uint64_t(policy.past.members);
    if (policy.past.form != Against::none) owner.facts |= against_past;
    owner.planes = policy.planes;
    owner.networks = uint32_t(shape.networks());
    owner.width = uint64_t(shape.seen);
    owner.encoder = shape.encoder;
    owner.parameters = uint64_t(shape.parameters());
    owner.slot_floats = uint64_t(shape.gradient_floats());
    if (settings.peers) owner.shots = peer_shots(owner.parameters, settings.ranks);
    if (settings.ranks > 1 && owner.shots == 0) owner.facts |= hands_over_gradient;
    const bool elsewhere = settings.external && policy.role != Role::random;
    if (elsewhere) owner.facts |= external;
    else if (policy.role == Role::random && owner.is(on_gpu)) owner.facts |= random;
    else owner.facts |= policy.streamed() ? streamed : fused;
    owner.facts |= policy.wide_on_cpu ? layered : not_layered;
    if (policy.role != Role::random && !elsewhere) owner.facts |= network;
    if (policy.role == Role::trained) owner.facts |= learns;
    owner.facts |= policy.remembers() ? recurrent : feedforward;
    if (policy.remembers()) owner.sequence = settings.sequence;
    if (!shape.critic.empty() || policy.is_critic()) owner.facts |= separate;
    owner.facts |= policy.is_critic() ? values_alone : acts;
    if (settings.traced) owner.facts |= traced;
    if (settings.scales_advantages == 2) owner.facts |= normalises_minibatches;
    if (elsewhere) {
        owner.parts = 1;
        return owner;
    }
    if (policy.streamed()) {
        owner.facts |= policy.passes_rows() ? row_passed : by_layers;
        owner.facts |= product_facts(shape, policy, owner.is(learns) && !policy.passes_rows());
    }
    if (policy.passes_rows()) {
        owner.pass_bytes = row_pass_bytes_of(shape, policy.planes);
        if (row_pass_sums_ends(owner.width, uint64_t(shape.actor.back()), policy.planes))
            owner.facts |= ends_at_once;
    }
    owner.facts |= has_last_at_once(shape, policy, environment.compute) ? last_at_once : last_apart;
    owner.last_width = uint64_t(shape.actor[shape.actor.size() - 2]);
    if (policy.streamed()) owner.facts |= cluster_facts(shape, policy, hopper);
    if (policy.streamed() && owner.is(learns)) owner.facts |= gru_facts(settings, policy);
    if (owner.is(streamed | learns) && hopper)
        owner.stripe_turns = stripe_turns_of(settings, policy, shape, owner.steps * owner.learners);
    if (owner.stripe_turns) owner.facts |= first_at_once;
    if (owner.is(on_gpu | fused)) owner.fit = tensor_fit(policy, shape, environment.compute);
    owner.parts = parts_of(owner, settings.emulates);
    if (!owner.is(on_gpu | streamed)) owner.parts *= settings.shards;
    if (settings.stepwise || !policy.streamed() || SchemaView(environment).header().has_image)
        return owner;
    const int rows =
        resident_rows_for<int64_t>(shape.actor, int(shape.actor.size()) - 1, policy.planes);
    owner.resident_bytes = resident_bytes(policy, shape, environment, rows);
    owner.resident_rows = uint64_t(rows);
    owner.resident_blocks = uint64_t(settings.emulates ? emulated_blocks : resident_blocks);
    // Of very many rows large products of their own are quicker.
    constexpr uint64_t most_turns = 4;
    if (owner.resident_bytes > 0 &&
        owner.rows <= most_turns * uint64_t(resident_blocks) * uint64_t(rows))
        owner.facts |= resides;
    return owner;
}

}

Owners::Owners(const Settings& settings, const std::vector<NetworkShape>& shapes,
               const nacelle_environment& environment) {
    const SchemaView schema(environment);
    Owner every{.envs = environment.envs, .steps = settings.horizon, .shards = settings.shards};
    every.facts = (environment.on_gpu || settings.emulates ? on_gpu : on_cpu) |
                  (environment.on_gpu && !settings.emulates ? learning_apart : always) |
                  (settings.ranks > 1 ? among_ranks : always) |
                  (settings.keeps_pairs ? in_pairs : always) |
                  (settings.ranks > 1 && !settings.peers ? hands_over : always) |
                  rollout_facts(settings, shapes, environment);
    // Totals of neighbouring environments of one agent are one thread's.
    if (!schema.header().is_team) every.share = nacelle::group_envs;
    if (every.is(in_residence))
        every.resident_bytes = residence_bytes(settings.policies[0], shapes[0], environment);
    if (every.is(in_warps)) every.warp_envs = warp_envs(settings, shapes[0], every.envs);
    if (every.is(in_team_residence)) {
        const nacelle::Header& header = schema.header();
        every.resident_bytes = team_residence_bytes(settings, shapes, environment);
        every.team_threads = header.block_threads;
        every.resident_blocks = divided_up(every.envs, header.block_threads / header.env_threads);
    }
    run = {every};
    const PolicySettings& first = settings.policies[0];
    if (every.is(on_gpu | in_steps) && first.past.form != Against::none)
        wrong("policies." + first.name + ".opponents",
              "a GPU plays the past where all steps of a rollout are one launch: with layers that "
              "do not remember, no convolutions, \"rollout\": \"auto\", and networks and teams "
              "that fit into its blocks (layers of 512 neurons do on an H100); a CPU plays it with "
              "any");
    if (every.is(in_memory)) {
        const std::vector<int64_t>& widths = shapes[0].actor;
        run[0].remembering_bytes = uint32_t(remembering_bytes(settings.policies[0], shapes[0]));
        run[0].remembering_threads = remembering_threads(widths, int(widths.size()) - 1);
    }
    for (uint32_t g = 0; g < schema.header().groups; ++g) {
        Owner& group = groups.emplace_back(every);
        group.rows = every.envs * schema.header().group[g].count;
        group.width = schema.seen(g);
        group.kept_parts = settings.keeps_pairs ? kept_words(group.width) : group.width;
        if (schema.image_elements(g)) group.facts |= images;
    }
    if (settings.overview) {
        Owner& all = groups.emplace_back(every);
        all.rows = every.envs;
        all.width = all.kept_parts = settings.overview;
        all.facts |= overviews;
    }
    for (Owner& group : groups) group.facts |= measured;
    for (size_t p = 0; p < shapes.size(); ++p) {
        policies.push_back(policy_owner(every, settings, settings.policies[p], shapes[p],
                                        environment, uint32_t(p)));
        if (policies.back().is(learns)) {
            run[0].facts |= learns;
            if (policies.back().is(acts))
                run[0].learning_blocks += agent_blocks(policies.back().learners, settings.shards);
        }
        if (policies.back().is(on_gpu | streamed))
            add_convolutions(uint32_t(p), settings.policies[p]);
    }
    for (uint32_t g = 0; g < schema.header().groups; ++g)
        if (!schema.header().group[g].has_turn) share_sights(g, settings, shapes);
}
std::optional<Owners> Owners::of_draft(Settings settings, const std::vector<NetworkShape>& shapes,
                                       const nacelle_environment& environment) {
    const uint64_t in_full = rollout_facts(settings, shapes, environment);
    const bool plays_past = settings.policies[0].past.form != Against::none;
    if ((in_full != in_warps && in_full != in_teams) || plays_past) return std::nullopt;
    settings.stepwise = true;
    Owners owners(settings, shapes, environment);
    if (in_full == in_warps) owners.run[0].facts |= drafted;
    return owners;
}
void Owners::add_convolutions(uint32_t number, const PolicySettings& policy) {
    const Encoder& encoder = policies[number].encoder;
    policies[number].first_convolution = uint32_t(convolutions.size());
    for (int l = 0; l < encoder.count; ++l) {
        Owner& owner = convolutions.emplace_back(policies[number]);
        owner.policy = number;
        owner.layer = uint32_t(l);
        owner.conv_forward = forward_block(encoder, l, policy.planes, policy.keeps_input());
        owner.conv_weights = weights_block(encoder, l, policy.planes);
        if (l == 0) continue;
        owner.facts |= behind_another;
        owner.conv_backward = backward_block(encoder, l, policy.planes);
    }
}

}
