#include "tests/sdk/emulated.h"

// Arrays of sizes and types that fit no word, row behind row: on a GPU they are filled by words, without a byte of a
// neighbour's.
using namespace nacelle;
using namespace nacelle::test;

namespace {

const char* const shelves = R"(
#include <nacelle/env.h>
struct Shelves {
    struct Params { float unused = 0; };
    static constexpr int time_limit = 7;
    enum Mood : uint8_t { calm, wild, sad };
    struct State { int at; nacelle::Array<uint8_t, 5, 7, 3> made; nacelle::Array<double, 9> large; };
    struct Action { nacelle::Discrete<3> go; };
    struct Obs {
        float first;
        nacelle::Array<uint8_t, 11, 11, 3> image;
        nacelle::Array<uint8_t, 67> strip;
        nacelle::Array<int8_t, 64> whole;
        nacelle::Array<int16_t, 7, 9> wide;
        nacelle::Array<uint16_t, 33> pairs;
        nacelle::Array<float, 5, 5> floats;
        nacelle::Array<uint8_t, 3> few;
    };
    static void reset(State& s, const Params&, nacelle::Rng& rng) {
        s.at = rng.below(100);
        s.made.fill([&](int, int, int) { return uint8_t(rng.below(256)); });
        s.large.fill([&](int i) { return 0.5 * i + s.at; });
    }
    static nacelle::Outcome step(State& s, const Action& a, const Params&, nacelle::Rng&) {
        s.at += a.go;
        return {.reward = float(s.large[s.at % 9])};
    }
    static void observe(const State& s, const Params&, Obs& obs) {
        obs.first = float(s.at);
        obs.image.fill([&](int i, int j, int k) { return uint8_t(s.made[(i * 33 + j * 3 + k + s.at) % 105] + k); });
        obs.strip.fill([&](int i) { return uint8_t(i * s.at); });
        obs.whole.fill([&](int i) { return int8_t(i - s.at); });
        obs.wide.fill([&](int i, int j) { return int16_t(i * 1000 - j * s.at); });
        obs.pairs.fill([&](int i) { return uint16_t(i * 1999 + s.at); });
        obs.floats.fill([&](int i, int j) { return float(s.made(i, j, 0)) + 0.25f * float(s.at); });
        obs.few.fill([&](int i) { return uint8_t(s.at + i); });
    }
};
NACELLE_ENV(Shelves)
)";

}

TEST_CASE("arrays of any size and type are filled on a GPU as on a CPU") {
    const Folder folder;
    const std::filesystem::path source = folder.write("shelves.cu", shelves);
    for (const uint32_t count : {1u, 34u})
        compare_with_emulation(settings_of({{"source", source}}), count, {});
}
