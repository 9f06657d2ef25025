#include "tests/support/random.h"

#include <doctest/doctest.h>
#include <learn/layout/arguments.h>
#include <learn/layout/conv_tiles.h>

// How passes over samples, agents and parameters are cut for the blocks of a GPU, and convolutions for its warps.

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
TEST_CASE("a slope meets the weight that made it, in the phase of what it goes back to") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Dice dice(seed);
    for (int i = 0; i < 3000; ++i) {
        const int length = 1 + int(dice.below(20)), size = 1 + int(dice.below(8)),
                  stride = 1 + int(dice.below(6)), padding = int(dice.below(size)),
                  made = learn::Convolution::along(length, size, stride, padding);
        if (made == 0) continue;
        CAPTURE(length);
        CAPTURE(size);
        CAPTURE(stride);
        CAPTURE(padding);
        const learn::ConvSide back = learn::backward_side(length, size, stride, padding);
        CHECK(back.length == made);
        CHECK(back.first >= 0);
        CHECK(back.first + made <= back.wide);
        int inputs = 0, taps = 0;
        for (int phase = 0; phase < back.phases; ++phase) {
            inputs += back.made_in(phase);
            taps += back.taps(phase);
            CHECK(back.begin(phase) >= 0);
            CHECK(back.begin(phase) + back.made_in(phase) - 1 + back.taps(phase) <= back.wide);
        }
        CHECK(inputs == length);
        CHECK(taps == size);
        for (int out = 0; out < made; ++out)
            for (int tap = 0; tap < size; ++tap) {
                const int in = out * stride + tap - padding, phase = back.phase_of(tap);
                if (in < 0 || in >= length) continue;
                CHECK(in % stride == phase);
                CHECK(back.begin(phase) + in / stride + back.turned(tap) == back.first + out);
            }
    }
}
TEST_CASE("images of eight samples begin in banks of their own, and no patch leaves its image") {
    for (const int channels : {1, 3, 6, 8, 18, 32, 33, 64, 128})
        for (const int stride : {1, 2, 3}) {
            const learn::Convolution c{9, 7, channels, 3, 2, stride, 1, 5};
            for (const learn::ConvProduct& p : {learn::forward_of(c), learn::backward_of(c)}) {
                CHECK(p.image_numbers(8) / 8 % 2 == 1);
                CHECK(p.pixel() >= p.channels);
                for (const int samples : {1, 2, 4, 8}) {
                    CHECK(p.pitch(samples) >= p.pixel());
                    CHECK(p.image_numbers(samples) >=
                          p.rows.wide * p.columns.wide * p.pitch(samples));
                }
            }
        }
}
