#pragma once
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

}
