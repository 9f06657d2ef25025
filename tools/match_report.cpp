#include "tools/match_report.h"

#include "engine/base/mean_interval.h"
#include "tools/output.h"
#include "tools/table.h"
#include "tools/units.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace nacelle::tools {
namespace {

uint64_t counted_in(const Meeting& meeting) { return meeting.won + meeting.drawn + meeting.lost; }

std::string percent(double share) {
    char text[40];
    std::snprintf(text, sizeof text, "%.1f", 100 * share);
    return text;
}
// "98.2 to 99.5 %"
std::string share_text(uint64_t part, uint64_t all) {
    const ShareInterval its = share_interval(double(part) / double(all), double(all));
    return percent(its.low) + " to " + percent(its.high) + " %";
}
std::string whole_text(double value) { return std::to_string(std::lround(value)); }

// The players by their ratings, the strongest first.
std::vector<size_t> ranked(const MatchReport& report) {
    std::vector<size_t> order(report.players.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return report.ratings[a].elo > report.ratings[b].elo;
    });
    return order;
}

// The returns of a player on a side, in all its games.
MeanInterval returns_on(const MatchReport& report, size_t player, size_t side) {
    std::vector<double> all;
    for (const MatchReport::Pair& pair : report.pairs) {
        if (pair.player != player && pair.against != player) continue;
        const std::vector<double>& its = pair.meeting.returns[pair.against == player][side];
        all.insert(all.end(), its.begin(), its.end());
    }
    return mean_interval(all);
}

void print_head(const MatchReport& report) {
    const GameSettings& settings = report.settings;
    const auto games = static_cast<unsigned long long>(settings.games);
    std::printf("%s on %s, each pair: ", report.environment.c_str(), report.place.c_str());
    if (report.sides.roles)
        std::printf("%llu rounds of two games, with the sides exchanged in the second", games);
    else std::printf("%llu games, with the sides exchanged in half of them", 2 * games);
    if (settings.opening) std::printf("; %u random steps, then ", settings.opening);
    else std::printf("; ");
    std::printf("%s\n",
                settings.sampled ? "actions drawn as in training" : "the most probable actions");
}

void print_pairs(const MatchReport& report) {
    Table table({"player", "against", report.sides.roles ? "rounds" : "games", "won", "drawn",
                 "lost", "won of all", "95 %"});
    for (const size_t column : {2, 3, 4, 5, 6, 7}) table.right(column);
    for (const MatchReport::Pair& pair : report.pairs) {
        const Meeting& meeting = pair.meeting;
        const uint64_t all = counted_in(meeting);
        table.add({report.players[pair.player], report.players[pair.against], std::to_string(all),
                   std::to_string(meeting.won), std::to_string(meeting.drawn),
                   std::to_string(meeting.lost), percent(double(meeting.won) / double(all)) + " %",
                   share_text(meeting.won, all)});
        if (meeting.unfinished)
            table.note("  " + std::to_string(meeting.unfinished) + " games were cut after " +
                       std::to_string(Arena::most_steps) + " steps");
        // The interval is that of games that know nothing of each other.
        if (2 * meeting.different < meeting.games)
            table.note("  " + std::to_string(meeting.different) + " of " +
                       std::to_string(meeting.games) +
                       " games differ, so that the interval is too narrow: a longer --opening or "
                       "--sampled makes more of them");
    }
    table.print();
}

void print_ratings(const MatchReport& report) {
    std::vector<std::string> titles = {"player", "Elo", "95 %"};
    for (const std::string& side : report.sides.names)
        if (report.sides.roles) titles.push_back("return as " + side);
    Table table(titles);
    for (size_t column = 1; column < titles.size(); ++column) table.right(column);
    for (const size_t player : ranked(report)) {
        const Rating& rating = report.ratings[player];
        std::vector<std::string> cells = {
            report.players[player], whole_text(rating.elo),
            player == report.anchor ? "given" : "± " + whole_text(rating.interval)};
        for (size_t side = 0; side < 2 && report.sides.roles; ++side) {
            const MeanInterval its = returns_on(report, player, side);
            cells.push_back(with_interval(its.mean, its.interval));
        }
        table.add(cells);
    }
    table.print();
}

}

void print_match(const MatchReport& report) {
    print_head(report);
    print_pairs(report);
    std::printf("\n");
    print_ratings(report);
}

void print_match_json(const MatchReport& report) {
    for (const MatchReport::Pair& pair : report.pairs) {
        const Meeting& meeting = pair.meeting;
        const double all = double(counted_in(meeting));
        Json line = {{"kind", "pair"},
                     {"environment", report.environment},
                     {"player", report.players[pair.player]},
                     {"against", report.players[pair.against]},
                     {"counted", report.sides.roles ? "rounds" : "games"},
                     {"games", meeting.games},
                     {"different_games", meeting.different},
                     {"unfinished", meeting.unfinished},
                     {"seed", report.settings.seed},
                     {"opening", report.settings.opening},
                     {"sampled", report.settings.sampled}};
        for (const auto& [name, number] :
             {std::pair("won", meeting.won), std::pair("drawn", meeting.drawn),
              std::pair("lost", meeting.lost)}) {
            const ShareInterval its = share_interval(double(number) / all, all);
            line[name] = number;
            line[std::string(name) + "_bounds"] = {its.low, its.high};
        }
        print_json(line);
    }
    for (const size_t player : ranked(report)) {
        const Rating& rating = report.ratings[player];
        Json line = {{"kind", "rating"},
                     {"player", report.players[player]},
                     {"elo", rating.elo},
                     {"elo_interval", rating.interval},
                     {"given", player == report.anchor}};
        for (size_t side = 0; side < 2 && report.sides.roles; ++side) {
            const MeanInterval its = returns_on(report, player, side);
            line["returns"][report.sides.names[side]] = {{"mean", its.mean},
                                                         {"interval", its.interval}};
        }
        print_json(line);
    }
}

}
