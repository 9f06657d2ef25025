#pragma once
#include "engine/match/agent_arrays.h"
#include "engine/match/player.h"
#include "engine/match/sides.h"

namespace nacelle {

// What came of a game: one episode.
struct Game {
    std::array<double, 2> returns{};    // of each side: the rewards of all its agents
    uint32_t steps = 0;
    bool finished = false;    // else it was cut after Arena::most_steps
    uint64_t actions = 0;     // a hash of all that was done: equal for games that are the same
};

// How games are played.
struct GameSettings {
    uint64_t games = 500, seed = 1;
    uint32_t opening = 0;    // steps at the start in which all agents act at random
    bool sampled = false;    // actions are drawn as in training; else the most probable ones
};

// Where two players play an environment's games. All policies act on the host, each for the agents of its side.
class Arena final {
public:
    // After so many steps a game is cut where the environment has no limit of its own.
    static constexpr uint32_t most_steps = 10000;

    // Throws where the environment does not have two sides.
    explicit Arena(Environment& env);

    const Sides& sides() const { return sides_; }
    // Whether the environment itself ends games after some steps.
    bool limited() const { return env_.schema().header().time_limit > 0; }
    // Plays games with a player on each side. The same settings begin the same games, whoever plays.
    std::vector<Game> play(const std::array<const Player*, 2>& players,
                           const GameSettings& settings);

private:
    struct Round;    // games that run side by side

    void take_turns(Round& round);
    void act(Round& round, uint32_t group, uint32_t side, const TrainedPolicy& policy);
    void act_at_random(Round& round, uint32_t group, uint32_t side);
    void note(Round& round, uint32_t group, uint32_t row, const float* action);
    void take_results(Round& round);

    Environment& env_;
    Sides sides_;
    std::vector<AgentArrays> groups_;
    std::vector<uint32_t> rows_;    // those that act, of one group and side
    std::vector<float> observations_, actions_, memory_;
    std::vector<uint8_t> masks_;
};

}
