// How strong a run plays Connect Four; tests/bench/connect_four.py calls it:
//     connect_four_strength RUN CHECKPOINT GAMES POSITIONS SEED greedy|sampled DEPTH...
// A depth of 0 draws among all moves. Prints a line of JSON for each opponent and seat, and one for the exact values.
#include "engine/base/mean_interval.h"
#include "engine/config/config.h"
#include "engine/nacelle.hpp"
#include "tests/connect_four/opponent.h"
#include "tests/connect_four/seen.h"
#include "tests/connect_four/solver.h"

#include <charconv>
#include <cstdio>
#include <map>
#include <set>

using namespace nacelle;
using namespace nacelle::test;
using namespace nacelle::test::four;

namespace {

constexpr int least_stones = 12;    // of positions whose exact value is worked out

struct Asked {
    std::string run, checkpoint;
    size_t games = 0, positions = 0;
    uint64_t seed = 1;
    bool sampled = false;
    std::vector<int> depths;
};

struct Score {
    uint64_t won = 0, drawn = 0, lost = 0;
    std::set<std::string> different;    // the columns of each game
};

struct Running {
    StandardBoard board;
    std::string columns;
};

// A position in which it was the policy's turn, and what it chose.
struct Chosen {
    StandardBoard board;
    int column;
};
using ChosenByKey = std::map<uint64_t, Chosen>;

// The policy's moves in all boards.
std::vector<int> moves_of(Policy& policy, bool sampled, const std::vector<Running*>& games) {
    std::vector<float> seen, actions(games.size());
    std::vector<uint8_t> masks;
    for (const Running* game : games) {
        const std::vector<float> its = observation(game->board);
        const std::vector<uint8_t> open = mask(game->board);
        seen.insert(seen.end(), its.begin(), its.end());
        masks.insert(masks.end(), open.begin(), open.end());
    }
    if (sampled) policy.sample(seen, actions, masks);
    else policy.act(seen, actions, masks);
    return {actions.begin(), actions.end()};
}

// One more stone in each game; those that have ended leave the list.
void count_ended(std::vector<Running>& games, bool policy_moved, Score& score) {
    std::erase_if(games, [&](const Running& game) {
        const bool won = game.board.lost();
        if (!won && !game.board.full()) return false;
        ++(!won ? score.drawn : policy_moved ? score.won : score.lost);
        score.different.insert(game.columns);
        return true;
    });
}

// A policy sees whose turn it is and not who began, so that all games are at the same stone.
Score play(Policy& policy, const Asked& asked, int depth, bool starts, ChosenByKey& chosen) {
    Dice dice(asked.seed * 1000 + uint64_t(2 * depth + starts));
    const Opponent<StandardBoard> opponent(depth);
    std::vector<Running> games(asked.games);
    Score score;
    for (bool policy_moves = starts; !games.empty(); policy_moves = !policy_moves) {
        std::vector<Running*> all;
        for (Running& game : games) all.push_back(&game);
        std::vector<int> columns;
        if (policy_moves) columns = moves_of(policy, asked.sampled, all);
        for (size_t i = 0; i < games.size(); ++i) {
            Running& game = games[i];
            const int column = policy_moves ? columns[i] : opponent.choose(game.board, dice);
            if (policy_moves && game.board.stones() >= least_stones)
                chosen.emplace(game.board.key(), Chosen{game.board, column});
            game.columns += char('1' + column);
            game.board = game.board.after_column(column);
        }
        count_ended(games, policy_moves, score);
    }
    return score;
}

Json share_json(uint64_t part, uint64_t all) {
    const double share = all ? double(part) / double(all) : 0;
    const ShareInterval its = share_interval(share, double(std::max<uint64_t>(all, 1)));
    return {{"count", part}, {"share", share}, {"low", its.low}, {"high", its.high}};
}

void print(const Json& line) {
    std::printf("%s\n", json_text(line).c_str());
    std::fflush(stdout);
}

void print_score(int depth, bool starts, const Score& score) {
    const uint64_t all = score.won + score.drawn + score.lost;
    print({{"kind", "games"},
           {"depth", depth},
           {"starts", starts},
           {"games", all},
           {"different", score.different.size()},
           {"won", share_json(score.won, all)},
           {"drawn", share_json(score.drawn, all)},
           {"lost", share_json(score.lost, all)}});
}

// Of moves in some of the positions: how many have the position's value, of all and where another move has less.
void print_values(const Asked& asked, const ChosenByKey& chosen) {
    std::vector<Chosen> all;
    for (const auto& [key, one] : chosen) all.push_back(one);
    Dice dice(asked.seed);
    for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[dice.index(i)]);
    if (all.size() > asked.positions) all.resize(asked.positions);
    Solver<StandardBoard> solver;
    uint64_t kept = 0, risky = 0, risky_kept = 0;
    for (const Chosen& one : all) {
        const int value = solver.value(one.board);
        bool loses = false;
        for (int column = 0; column < 7 && !loses; ++column)
            loses = one.board.open(column) && solver.value_of_move(one.board, column) < value;
        const bool keeps = solver.value_of_move(one.board, one.column) == value;
        kept += keeps;
        risky += loses;
        risky_kept += loses && keeps;
    }
    print({{"kind", "values"},
           {"positions", all.size()},
           {"kept", share_json(kept, all.size())},
           {"positions_with_a_mistake", risky},
           {"kept_there", share_json(risky_kept, risky)}});
}

uint64_t number(const char* text) {
    uint64_t value = 0;
    const std::string_view word = text;
    const auto [end, wrong] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (wrong != std::errc() || end != word.data() + word.size())
        throw std::runtime_error("not a number: " + std::string(word));
    return value;
}

void measure(const Asked& asked) {
    Policy policy(asked.run, "", asked.checkpoint);
    if (policy.environment() != "ConnectFour")
        throw std::runtime_error(asked.run + ": is a run of " + policy.environment());
    policy.seed(asked.seed);
    ChosenByKey chosen;
    for (const int depth : asked.depths)
        for (const bool starts : {true, false})
            print_score(depth, starts, play(policy, asked, depth, starts, chosen));
    if (asked.positions > 0) print_values(asked, chosen);
}

}

int main(int count, char** words) {
    try {
        if (count < 8) throw std::runtime_error("its head says how it is called");
        Asked asked{.run = words[1],
                    .checkpoint = words[2],
                    .games = number(words[3]),
                    .positions = number(words[4]),
                    .seed = number(words[5]),
                    .sampled = std::string(words[6]) == "sampled",
                    .depths = {}};
        for (int i = 7; i < count; ++i) asked.depths.push_back(int(number(words[i])));
        measure(asked);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "connect_four_strength: %s\n", error.what());
        return 1;
    }
    return 0;
}
