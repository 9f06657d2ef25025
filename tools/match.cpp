#include "engine/base/error.h"
#include "engine/run/author_files.h"
#include "engine/run/trainee.h"
#include "tools/acting.h"
#include "tools/commands.h"
#include "tools/crash_watch.h"
#include "tools/match_players.h"
#include "tools/match_report.h"
#include "tools/options.h"

#include <algorithm>

namespace nacelle::tools {
namespace {

struct Match {
    Options options;
    std::vector<std::string> players;
    uint64_t games = 1000;
    uint32_t opening = 4;
    bool sampled = false, changed_source = false;
};

constexpr double elo_of_random = 0, elo_of_first = 1000;

// The run whose configuration says what is played.
std::filesystem::path deciding_run(const std::vector<NamedPlayer>& players) {
    for (const NamedPlayer& player : players)
        if (!player.run.empty()) return player.run;
    throw Error("match", "no player is a run, so that nothing says which environment is played",
                "name a run's directory, too");
}

// No more environments than games: the others would be for nothing.
void limit_count(Json& configuration, uint64_t games) {
    Json& count = configuration["env"]["count"];
    if (!count.is_number_unsigned() || count.get<uint64_t>() > games) count = games;
}

void require_same_files(const NamedPlayer& player, const AuthorFiles& now) {
    const std::string name = first_difference(player.checkpoint->record.files, now.hashes);
    if (name.empty()) return;
    throw Error(now.places.at(name).string(),
                "is not what it was when " + player.name + " was trained",
                "put it back: the run's folder 'source' has it; or play in the changed one by "
                "--changed-source");
}

std::vector<Player> opened(const std::vector<NamedPlayer>& named, Environment& env,
                           bool changed_source) {
    std::vector<Player> players;
    const AuthorFiles files = author_files(env);
    for (const NamedPlayer& one : named) {
        players.push_back(one.checkpoint ? player_of(*one.checkpoint, env, one.name)
                                         : random_player(env));
        if (one.checkpoint && !changed_source) require_same_files(one, files);
    }
    return players;
}

void play_all(const std::vector<Player>& players, Arena& arena, MatchReport& report) {
    std::vector<PairResult> results;
    for (size_t a = 0; a < players.size(); ++a)
        for (size_t b = a + 1; b < players.size(); ++b) {
            const Meeting meeting = meet(arena, players[a], players[b], report.settings);
            results.push_back({a, b, meeting.won, meeting.drawn, meeting.lost});
            report.pairs.push_back({a, b, meeting});
        }
    const auto random = std::find(report.players.begin(), report.players.end(), "random");
    const bool found = random != report.players.end();
    report.anchor = found ? size_t(random - report.players.begin()) : 0;
    report.ratings =
        ratings_of(players.size(), results, report.anchor, found ? elo_of_random : elo_of_first);
}

void run(const Match& match) {
    const std::vector<NamedPlayer> named = named_players(match.players, Log());
    if (named.size() < 2)
        throw UsageError("match: name two players or more, such as RUN random, or RUN@all");
    const std::filesystem::path decides = deciding_run(named);
    const std::shared_ptr<RunsOn> on = open_for(match.options);
    std::optional<CrashWatch> crash;
    Plugins plugins(plugin_folders(match.options), on->cache, on->log);
    std::shared_ptr<Environment> env;
    with_configuration(environment_configuration(decides, match.options),
                       [&](Json configuration, const std::string& where) {
                           limit_count(configuration, match.games / 2);
                           crash.emplace(configuration);
                           env = load_environment(on, plugins, configuration, where);
                       });
    Arena arena(*env);
    const std::vector<Player> players = opened(named, *env, match.changed_source);
    const uint64_t seed = match.options.seed ? uint64_t(*match.options.seed) : env->settings().seed;
    MatchReport report{.environment = env->name(),
                       .place = on->cuda() ? "the GPU" : "the CPU",
                       .sides = arena.sides(),
                       .settings = {.games = match.games / 2,
                                    .seed = seed,
                                    .opening = match.opening,
                                    .sampled = match.sampled},
                       .players = {},
                       .pairs = {},
                       .ratings = {}};
    for (const Player& player : players) report.players.push_back(player.name);
    play_all(players, arena, report);
    match.options.json ? print_match_json(report) : print_match(report);
}

}

void add_match(CommandLine& line) {
    auto match = std::make_shared<Match>();
    Command command = line.add("match", "Play runs and checkpoints against each other");
    add_common_options(command, match->options);
    command.option("players", match->players, players_help).required();
    add_assignments(command, match->options);
    command
        .option("--games", match->games,
                "Games of each pair; the sides are exchanged in half of them")
        .between(uint64_t(2), uint64_t(10000000))
        .shows_default();
    command
        .option("--opening", match->opening,
                "Steps at the start of each game in which all act at random, so that games differ")
        .between(0u, 1000000u)
        .shows_default();
    command.flag("--sampled", match->sampled,
                 "Draw the actions as training does; else the most probable ones");
    command.flag("--changed-source", match->changed_source,
                 "Play though the environment's files have changed");
    command.check([match] {
        if (match->games % 2)
            throw UsageError("match: --games: half of them are played with the sides exchanged, "
                             "so that it is an even number");
    });
    command.run([match] { run(*match); });
}

}
