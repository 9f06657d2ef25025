#pragma once
#include "algorithms/policy_gradient/plan/kernels.h"
#include "tests/env/workbench.h"

#include <cstring>
#include <nacelle/plugin/abi.h>

namespace nacelle::test {

// What a learner would be told of an environment on a GPU.
struct Told {
    std::vector<std::byte> schema;
    nacelle_environment environment{};

    // Blocks of teams as a GPU has them, whose shapes the table of a CPU does not have.
    void has_blocks(uint32_t threads, uint32_t of_team, uint32_t bytes) {
        Header& header = *reinterpret_cast<Header*>(schema.data());
        header.block_threads = threads;
        header.env_threads = of_team;
        header.shared_bytes = bytes;
    }

    Told(Environment& env, uint32_t compute) {
        const Header& header = env.schema().header();
        const std::vector<Field>& fields = env.schema().fields();
        schema.resize(sizeof header + fields.size() * sizeof(Field));
        std::memcpy(schema.data(), &header, sizeof header);
        std::memcpy(schema.data() + sizeof header, fields.data(), fields.size() * sizeof(Field));
        environment = {.size = sizeof environment,
                       .envs = 4096,
                       .name = reinterpret_cast<const Header*>(schema.data())->name,
                       .schema = reinterpret_cast<const nacelle_schema*>(schema.data()),
                       .seed = 1,
                       .on_gpu = 1,
                       .time_limit = header.time_limit,
                       .compute = compute,
                       .drafts = 1};
    }
};

// What a learner makes of its settings for such an environment.
struct Understood {
    learn::Settings settings;
    std::vector<learn::NetworkShape> shapes;
    learn::Plan plan;

    Understood(const learn::Algorithm& algorithm, const char* config, const Told& told,
               uint32_t ranks = 1, uint32_t peers = 0)
        : settings(learn::read_settings(algorithm, config, told.environment,
                                        {sizeof(nacelle_ranks), 0, ranks, peers})),
          shapes(shapes_of(settings, told)),
          plan(settings, shapes, told.environment) {}

private:
    static std::vector<learn::NetworkShape> shapes_of(const learn::Settings& settings,
                                                      const Told& told) {
        std::vector<learn::NetworkShape> shapes;
        for (const learn::PolicySettings& policy : settings.policies)
            shapes.emplace_back(policy, told.environment);
        return shapes;
    }
};

}
