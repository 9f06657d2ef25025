#include "engine/match/arena.h"

#include <algorithm>
#include <bit>

namespace nacelle {
namespace {

// Streams of random numbers of one seed.
enum class Use : uint32_t { environment, opening, side };

uint64_t seed_for(uint64_t seed, uint64_t round, Use use, uint32_t side = 0) {
    Rng rng(seed, Domain::level, round, uint32_t(use) + side);
    const uint64_t high = rng.bits();
    return high << 32 | rng.bits();
}

}

struct Arena::Round {
    const std::array<const Player*, 2>& players;
    const GameSettings& settings;
    uint64_t number;
    std::span<Game> games;
    uint32_t step = 0;
    std::vector<uint8_t> over, terminated, truncated;
    std::vector<std::array<std::vector<float>, 2>> memory;    // of all rows, by groups and sides
    size_t running;

    Round(const std::array<const Player*, 2>& who, const GameSettings& how, uint64_t which,
          std::span<Game> its, uint32_t envs)
        : players(who),
          settings(how),
          number(which),
          games(its),
          over(its.size()),
          terminated(envs),
          truncated(envs),
          running(its.size()) {}
    bool opens() const { return step < settings.opening; }
};

Arena::Arena(Environment& env) : env_(env), sides_(sides_of(env)) {
    env_.set_progress(EpisodeProgress::ended());
    for (uint32_t group = 0; group < sides_.side_of.size(); ++group)
        groups_.emplace_back(env, group);
}

std::vector<Game> Arena::play(const std::array<const Player*, 2>& players,
                              const GameSettings& settings) {
    std::vector<Game> games(settings.games);
    const uint32_t limit = env_.schema().header().time_limit, last = limit ? limit : most_steps;
    for (uint64_t first = 0, number = 0; first < games.size(); first += env_.count(), ++number) {
        const size_t now = std::min<size_t>(env_.count(), games.size() - first);
        Round round(players, settings, number, std::span(games).subspan(first, now), env_.count());
        round.memory.resize(groups_.size());
        // From tick 0 environments have begun no episode before this one.
        env_.set_seed(seed_for(settings.seed, number, Use::environment));
        env_.set_tick(0);
        env_.reset();
        for (; round.step < last && round.running > 0; ++round.step) {
            take_turns(round);
            env_.step();
            take_results(round);
        }
    }
    env_.check_finite();
    return games;
}

void Arena::take_turns(Round& round) {
    for (uint32_t g = 0; g < groups_.size(); ++g) {
        AgentArrays& group = groups_[g];
        group.look();
        for (uint32_t side = 0; side < 2; ++side) {
            rows_.clear();
            for (size_t env = 0; env < round.games.size(); ++env) {
                if (round.over[env]) continue;
                for (uint32_t i = 0; i < group.agents(); ++i) {
                    const size_t row = env * group.agents() + i;
                    if (sides_.side_of[g][i] == side && group.acts(row))
                        rows_.push_back(uint32_t(row));
                }
            }
            if (rows_.empty()) continue;
            const TrainedPolicy* const policy =
                round.players[side]->policies[sides_.policy(side)].get();
            // What remembers sees an opening, too.
            if (policy && (!round.opens() || policy->description().memory() > 0))
                act(round, g, side, *policy);
            if (!policy || round.opens()) act_at_random(round, g, side);
        }
        group.write_actions();
    }
}

void Arena::act(Round& round, uint32_t g, uint32_t side, const TrainedPolicy& policy) {
    const AgentArrays& group = groups_[g];
    const size_t remembered = policy.description().memory();
    std::vector<float>& memory = round.memory[g][side];
    memory.resize(round.games.size() * group.agents() * remembered);
    group.observe(rows_, policy.description(), observations_);
    actions_.resize(rows_.size() * group.parts());
    masks_.resize(rows_.size() * group.choices());
    memory_.resize(rows_.size() * remembered);
    for (size_t i = 0; i < rows_.size(); ++i) {
        group.mask(rows_[i], masks_.data() + i * group.choices());
        std::copy_n(memory.data() + rows_[i] * remembered, remembered,
                    memory_.data() + i * remembered);
    }
    const TrainedPolicy::Draws draws{
        .seed = seed_for(round.settings.seed, round.number, Use::side, side),
        .step = round.step,
        .rows = rows_};
    policy.act(observations_, actions_, masks_, round.settings.sampled ? &draws : nullptr, memory_);
    for (size_t i = 0; i < rows_.size(); ++i) {
        std::copy_n(memory_.data() + i * remembered, remembered,
                    memory.data() + rows_[i] * remembered);
        if (!round.opens()) note(round, g, rows_[i], actions_.data() + i * group.parts());
    }
}

// Of an opening they are the same numbers whoever plays.
void Arena::act_at_random(Round& round, uint32_t g, uint32_t side) {
    const uint64_t seed = round.opens()
                              ? seed_for(round.settings.seed, round.number, Use::opening)
                              : seed_for(round.settings.seed, round.number, Use::side, side);
    actions_.resize(groups_[g].parts());
    for (const uint32_t row : rows_) {
        Rng rng(seed, Domain::policy, round.step, row, g);
        groups_[g].draw(row, rng, actions_.data());
        note(round, g, row, actions_.data());
    }
}

void Arena::note(Round& round, uint32_t g, uint32_t row, const float* action) {
    groups_[g].act(row, action);
    uint64_t& hash = round.games[row / groups_[g].agents()].actions;
    for (size_t part = 0; part < groups_[g].parts(); ++part)
        hash = (hash ^ std::bit_cast<uint32_t>(action[part])) * 0x100000001b3ull +
               row % groups_[g].agents();
}

void Arena::take_results(Round& round) {
    for (AgentArrays& group : groups_) group.read_rewards();
    env_.arrays()["terminated"].read(round.terminated.data());
    env_.arrays()["truncated"].read(round.truncated.data());
    for (size_t env = 0; env < round.games.size(); ++env) {
        if (round.over[env]) continue;
        Game& game = round.games[env];
        for (size_t g = 0; g < groups_.size(); ++g)
            for (uint32_t i = 0; i < groups_[g].agents(); ++i)
                game.returns[sides_.side_of[g][i]] +=
                    double(groups_[g].reward(env * groups_[g].agents() + i));
        game.steps = round.step + 1;
        if (!round.terminated[env] && !round.truncated[env]) continue;
        game.finished = true;
        round.over[env] = 1;
        --round.running;
    }
}

}
