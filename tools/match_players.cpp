#include "tools/match_players.h"

#include "engine/base/error.h"
#include "engine/run/choose_checkpoint.h"
#include "engine/run/directory.h"
#include "tools/checkpoint_word.h"

#include <algorithm>

namespace nacelle::tools {
namespace fs = std::filesystem;
namespace {

constexpr const char* what_plays = "a player is a run's directory, RUN@STEPS for one of its "
                                   "checkpoints, a checkpoint's .json, or random";

void require_run(const fs::path& path) {
    std::error_code ignored;
    if (!fs::exists(path, ignored)) throw Error(path.string(), "does not exist", what_plays);
    require_one_run(path);
    if (fs::is_directory(path, ignored) && !holds_run(path))
        throw Error(path.string(), "holds no run", what_plays);
}

std::vector<NamedPlayer> all_of(const fs::path& run) {
    std::vector<NamedPlayer> players;
    for (const CheckpointFile& file : Checkpoints(run / "checkpoints").list())
        players.push_back({.name = run.string() + "@" + std::to_string(file.steps),
                           .checkpoint = Checkpoints::read(file.path),
                           .run = run});
    if (players.empty()) throw Error(run.string(), "has no checkpoint yet");
    std::reverse(players.begin(), players.end());    // the oldest comes first
    return players;
}

std::vector<NamedPlayer> players_of(const std::string& word, const Log& log) {
    if (word == "random") return {{.name = word, .checkpoint = {}, .run = {}}};
    const auto [path, checkpoint] = checkpoint_word(word);
    require_run(path);
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
        if (path.extension() != ".json" || checkpoint != "best")
            throw Error(word, "is no run", what_plays);
        const fs::path run = path.parent_path().parent_path();
        return {{.name = word,
                 .checkpoint = Checkpoints::read(path),
                 .run = holds_run(run) ? run : fs::path()}};
    }
    if (checkpoint == "all") return all_of(path);
    return {{.name = word, .checkpoint = choose_checkpoint(path, checkpoint, log), .run = path}};
}

// Two names of one checkpoint are one player.
bool same_player(const NamedPlayer& a, const NamedPlayer& b) {
    if (!a.checkpoint || !b.checkpoint) return !a.checkpoint && !b.checkpoint;
    std::error_code ignored;
    return fs::equivalent(a.checkpoint->where, b.checkpoint->where, ignored);
}

}

std::vector<NamedPlayer> named_players(const std::vector<std::string>& words, const Log& log) {
    std::vector<NamedPlayer> all;
    for (const std::string& word : words)
        for (NamedPlayer& player : players_of(word, log)) {
            for (const NamedPlayer& other : all)
                if (same_player(player, other))
                    throw Error(player.name,
                                other.name == player.name ? "is named twice"
                                                          : "is the same as " + other.name,
                                "a player does not play against itself");
            all.push_back(std::move(player));
        }
    return all;
}

}
