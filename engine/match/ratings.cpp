#include "engine/match/ratings.h"

#include "engine/base/mean_interval.h"

#include <algorithm>
#include <cmath>

namespace nacelle {
namespace {

constexpr double given_draws = 1;

using Matrix = std::vector<std::vector<double>>;

// The inverse of a symmetric positive definite matrix, by Gauss and Jordan: no pivot is 0.
Matrix inverse_of(Matrix a) {
    const size_t n = a.size();
    Matrix b(n, std::vector<double>(n));
    for (size_t i = 0; i < n; ++i) b[i][i] = 1;
    for (size_t k = 0; k < n; ++k) {
        const double pivot = a[k][k];
        for (size_t j = 0; j < n; ++j) {
            a[k][j] /= pivot;
            b[k][j] /= pivot;
        }
        for (size_t i = 0; i < n; ++i) {
            if (i == k) continue;
            const double factor = a[i][k];
            for (size_t j = 0; j < n; ++j) {
                a[i][j] -= factor * a[k][j];
                b[i][j] -= factor * b[k][j];
            }
        }
    }
    return b;
}

// The slope of the log-likelihood at these strengths, and Fisher's information, of all players but the anchor.
struct Likelihood {
    std::vector<double> slope;
    Matrix information;
};
Likelihood likelihood_at(const std::vector<double>& strength, std::span<const PairResult> results,
                         size_t anchor) {
    const size_t free = strength.size() - 1;
    const auto place = [&](size_t player) { return player - (player > anchor); };
    Likelihood at{std::vector<double>(free), Matrix(free, std::vector<double>(free))};
    for (const PairResult& one : results) {
        const double games = double(one.games()) + given_draws,
                     score = double(one.won) + 0.5 * (double(one.drawn) + given_draws),
                     expected = 1 / (1 + std::exp(strength[one.against] - strength[one.player])),
                     surplus = score - games * expected, weight = games * expected * (1 - expected);
        const auto add = [&](size_t player, double its) {
            if (player == anchor) return;
            at.slope[place(player)] += its;
            at.information[place(player)][place(player)] += weight;
        };
        add(one.player, surplus);
        add(one.against, -surplus);
        if (one.player == anchor || one.against == anchor) continue;
        at.information[place(one.player)][place(one.against)] -= weight;
        at.information[place(one.against)][place(one.player)] -= weight;
    }
    return at;
}

}

std::vector<Rating> ratings_of(size_t players, std::span<const PairResult> results, size_t anchor,
                               double anchor_elo) {
    const double elo = 400 / std::log(10.0);
    std::vector<double> strength(players);
    Matrix covariance;
    // Newton's method: the log-likelihood is concave. Steps are cut, since a far one may overshoot.
    for (int i = 0; i < 200; ++i) {
        const Likelihood at = likelihood_at(strength, results, anchor);
        covariance = inverse_of(at.information);
        double largest = 0;
        for (size_t k = 0, player = 0; player < players; ++player) {
            if (player == anchor) continue;
            double step = 0;
            for (size_t j = 0; j < at.slope.size(); ++j) step += covariance[k][j] * at.slope[j];
            step = std::clamp(step, -1.0, 1.0);
            strength[player] += step;
            largest = std::max(largest, std::abs(step));
            ++k;
        }
        if (largest < 1e-10) break;
    }
    std::vector<Rating> ratings(players, {anchor_elo, 0});
    for (size_t k = 0, player = 0; player < players; ++player) {
        if (player == anchor) continue;
        ratings[player] = {anchor_elo + elo * strength[player],
                           elo * normal_quantile * std::sqrt(covariance[k][k])};
        ++k;
    }
    return ratings;
}

}
