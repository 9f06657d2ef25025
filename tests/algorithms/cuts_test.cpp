#include "tests/support/random.h"

#include <doctest/doctest.h>
#include <learn/arguments.h>

// How passes over samples, agents and parameters are cut for the blocks of a GPU.

using namespace nacelle::test;

TEST_CASE("the sums of observations take every number of every sample once, in few blocks") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Dice dice(seed);
    for (int i = 0; i < 2000; ++i) {
        const uint64_t samples = 1 + uint64_t(dice.below(1 << dice.below(30))),
                       width = 1 + uint64_t(dice.below(1 << dice.below(17)));
        CAPTURE(samples);
        CAPTURE(width);
        const learn::ObsCut cut = learn::obs_cut(samples, width, true);
        CHECK(cut.chunks * cut.samples >= samples);
        CHECK((cut.chunks - 1) * cut.samples < samples);
        CHECK(cut.slabs * cut.slab >= width);
        CHECK((cut.slabs - 1) * cut.slab < width);
        CHECK(cut.slab <= uint64_t(learn::block_threads));
        CHECK(cut.chunks * cut.slabs <= std::max<uint64_t>(learn::most_blocks, cut.slabs));
        // On a CPU, whose bits stay as they were.
        CHECK(learn::obs_cut(samples, width, false).samples == 1024);
        CHECK(learn::obs_cut(samples, width, false).chunks == (samples + 1023) / 1024);
    }
}
TEST_CASE("few agents and few parameters have a block for each warp or block of them") {
    CHECK(learn::agent_blocks(1) == 1);
    CHECK(learn::agent_blocks(4096) == 128);
    CHECK(learn::agent_blocks(2000000) == learn::most_blocks);
    CHECK(learn::step_blocks(129) == 2);
    CHECK(learn::step_blocks(uint64_t(1) << 31) == learn::most_blocks);
}
