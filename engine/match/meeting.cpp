#include "engine/match/meeting.h"

#include <set>
#include <tuple>

namespace nacelle {
namespace {

void count(double own, double others, Meeting& meeting) {
    ++(own > others ? meeting.won : own < others ? meeting.lost : meeting.drawn);
}

std::array<double, 2> agents_on(const Sides& sides) {
    std::array<double, 2> agents{};
    for (const std::vector<uint8_t>& group : sides.side_of)
        for (const uint8_t side : group) ++agents[side];
    return agents;
}

}

Meeting meet(Arena& arena, const Player& first, const Player& second,
             const GameSettings& settings) {
    // By side: in the second half the first player has side 1.
    const std::array<std::vector<Game>, 2> halves = {arena.play({&first, &second}, settings),
                                                     arena.play({&second, &first}, settings)};
    const std::array<double, 2> agents = agents_on(arena.sides());
    Meeting meeting{.games = 2 * settings.games, .returns = {}};
    std::set<std::tuple<uint64_t, uint32_t, double, double>> kinds;
    for (size_t i = 0; i < settings.games; ++i) {
        std::array<double, 2> both{};    // of each player
        for (size_t half = 0; half < 2; ++half) {
            const Game& game = halves[half][i];
            meeting.unfinished += !game.finished && !arena.limited();
            kinds.emplace(game.actions, game.steps, game.returns[0], game.returns[1]);
            for (size_t player = 0; player < 2; ++player) {
                const size_t side = player ^ half;
                both[player] += game.returns[side];
                meeting.returns[player][side].push_back(game.returns[side] / agents[side]);
            }
            if (!arena.sides().roles) count(game.returns[half], game.returns[1 - half], meeting);
        }
        if (arena.sides().roles) count(both[0], both[1], meeting);
    }
    meeting.different = kinds.size();
    return meeting;
}

}
