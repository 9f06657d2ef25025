#include "algorithms/common/owners.h"

namespace learn {
namespace {

// Parts of an update that sum apart, whatever the machine, so that results do not depend on it: enough
// for all processors, and few enough that adding them up costs little. A wide network has many sums.
constexpr uint32_t cpu_parts = 32, emulated_parts = 3;

// On tensor cores as many blocks as an H100 or H200 has room for, a half for each of two networks.
uint32_t parts_of(const Owner& owner, bool emulates) {
    if (owner.is(on_cpu)) return cpu_parts;
    if (emulates) return emulated_parts;
    if (owner.is(streamed)) return 2 * processors;
    return processors * owner.fit.resident / owner.networks;
}
uint32_t product_facts(const NetworkShape& shape, const PolicySettings& policy,
                       bool with_backward) {
    uint32_t facts = 0;
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
uint32_t gru_facts(const Settings& settings, const PolicySettings& policy) {
    uint32_t facts = 0;
    for (size_t l = 0; l < policy.cells.size(); ++l) {
        if (policy.cells[l] != Cell::gru) continue;
        const uint32_t room = gru_room_of(settings, policy.hidden[l], policy.planes);
        facts |= room == 64 ? gru_in_64 : room == 128 ? gru_in_128 : gru_in_steps;
    }
    return facts;
}
Owner policy_owner(Owner owner, const Settings& settings, const PolicySettings& policy,
                   const NetworkShape& shape) {
    using Role = PolicySettings::Role;
    owner.rows = owner.envs * policy.agents;
    owner.planes = policy.planes;
    owner.networks = shape.shared ? 1 : 2;
    owner.width = uint64_t(shape.seen);
    owner.encoder = shape.encoder;
    owner.parameters = uint64_t(shape.parameters());
    owner.slot_floats = uint64_t(shape.gradient_floats());
    if (policy.role == Role::random && owner.is(on_gpu)) owner.facts |= random;
    else owner.facts |= policy.streamed() ? streamed : fused;
    owner.facts |= policy.wide_on_cpu ? layered : not_layered;
    if (policy.role != Role::random) owner.facts |= network;
    if (policy.role == Role::trained) owner.facts |= learns;
    owner.facts |= policy.remembers() ? recurrent : feedforward;
    if (policy.remembers()) owner.sequence = settings.sequence;
    if (!policy.shared) owner.facts |= separate;
    if (settings.traced) owner.facts |= traced;
    if (settings.scales_advantages == 2) owner.facts |= normalises_minibatches;
    if (policy.streamed()) owner.facts |= product_facts(shape, policy, owner.is(learns));
    if (policy.streamed() && owner.is(learns)) owner.facts |= gru_facts(settings, policy);
    if (owner.is(on_gpu | fused)) owner.fit = tensor_fit(policy, shape);
    owner.parts = parts_of(owner, settings.emulates);
    return owner;
}

// One launch for all steps where that can be: images are put together with the numbers before them, and layers that go
// through memory are launches of their own; a team has to fit into a block beside its warps' rows.
uint32_t rollout_facts(const Settings& settings, const std::vector<NetworkShape>& shapes,
                       const nacelle_environment& environment) {
    const nacelle::Header& header = SchemaView(environment).header();
    const bool gpu = environment.on_gpu || settings.emulates;
    bool steps = settings.stepwise || header.has_image;
    for (size_t p = 0; p < shapes.size(); ++p) {
        const PolicySettings& policy = settings.policies[p];
        steps |= policy.streamed() || policy.remembers();
        if (gpu && policy.role != PolicySettings::Role::random)
            steps |= tensor_fit(policy, shapes[p]).in_chunks;
    }
    if (gpu && header.is_team && !settings.emulates)
        steps |= !steps && !team_fits(settings, shapes, header);
    if (steps) return in_steps | closes_apart;
    if (gpu) return header.is_team ? in_teams : in_warps;
    return in_blocks | closes_apart;
}

}

Owners::Owners(const Settings& settings, const std::vector<NetworkShape>& shapes,
               const nacelle_environment& environment) {
    const SchemaView schema(environment);
    Owner every{.envs = environment.envs, .steps = settings.horizon};
    every.facts = (environment.on_gpu || settings.emulates ? on_gpu : on_cpu) |
                  (environment.on_gpu && !settings.emulates ? learning_apart : 0u) |
                  rollout_facts(settings, shapes, environment);
    run = {every};
    for (uint32_t g = 0; g < schema.header().groups; ++g) {
        Owner& group = groups.emplace_back(every);
        group.rows = every.envs * schema.header().group[g].count;
        group.width = schema.seen(g);
        if (schema.image_elements(g)) group.facts |= images;
    }
    for (size_t p = 0; p < shapes.size(); ++p) {
        policies.push_back(policy_owner(every, settings, settings.policies[p], shapes[p]));
        if (policies.back().is(on_gpu | streamed))
            add_convolutions(uint32_t(p), settings.policies[p]);
    }
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
