#include "tests/env/team_authors.h"
#include "tests/env/workbench.h"
#include "tests/support/random.h"

#include <cmath>
#include <doctest/doctest.h>

// Groups with actions and observations of their own, and what the engine counts of each policy.
using namespace nacelle;
using namespace nacelle::test;

namespace {

// Per policy, the mean return of its agents in each ended episode, as a host sees it.
struct PolicyReturns {
    std::vector<double> sum, squares;
    double episodes = 0, lengths = 0;

    explicit PolicyReturns(size_t policies) : sum(policies), squares(policies) {}
    void ended(const std::vector<double>& means, double length) {
        for (size_t p = 0; p < means.size(); ++p) {
            sum[p] += means[p];
            squares[p] += means[p] * means[p];
        }
        ++episodes;
        lengths += length;
    }
    void check(const Totals& totals) const {
        CHECK(totals.episodes == episodes);
        CHECK(totals.mean_length == doctest::Approx(lengths / episodes));
        REQUIRE(totals.policies.size() == sum.size());
        for (size_t p = 0; p < sum.size(); ++p) {
            CAPTURE(p);
            const double mean = sum[p] / episodes,
                         deviation = std::sqrt(std::max(0.0, squares[p] / episodes - mean * mean));
            CHECK(totals.policies[p].mean_return == doctest::Approx(mean).epsilon(1e-5));
            CHECK(totals.policies[p].return_deviation == doctest::Approx(deviation).epsilon(1e-4));
        }
        CHECK(totals.mean_return == totals.policies[0].mean_return);
    }
};

double mean_of(const std::vector<double>& list, size_t begin, size_t count) {
    double sum = 0;
    for (size_t i = begin; i < begin + count; ++i) sum += list[i];
    return sum / double(count);
}

}

TEST_CASE("groups act, observe and are paid by themselves; totals, log and critic's view say so") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    Dice dice(seed);
    const Folder folder;
    constexpr uint32_t count = 40;
    Environment env(cpu(), settings_of({{"source", folder.write("wages.cu", wages)},
                                        {"count", count},
                                        {"params", {{"scale", 0.5}}}}));
    CHECK(numbers(env, "street_trader.obs") == [] {
        std::vector<double> start;
        for (uint32_t i = 0; i < 3 * count; ++i) start.insert(start.end(), {1, 2});
        return start;
    }());
    PolicyReturns returns(2);
    std::vector<double> spent(count), miner_return(2 * count), trader_return(3 * count);
    std::vector<int> steps(count);
    double log_spent = 0, log_steps = 0;
    for (int t = 0; t < 40; ++t) {
        std::vector<double> dig, sell, end;
        for (uint32_t i = 0; i < 2 * count; ++i) {
            dig.push_back(0.25 * dice.below(40));
            end.push_back(i % 2 == 1 || dice.chance(0.8) ? 0 : 1 + dice.below(2));
        }
        for (uint32_t i = 0; i < 3 * count; ++i) sell.push_back(-0.5 * dice.below(20));
        write_numbers(env, "miner.action.pay", dig);
        write_numbers(env, "miner.action.end", end);
        write_numbers(env, "street_trader.action.pay", sell);
        env.step();
        const std::vector<double> dug = numbers(env, "miner.reward"),
                                  sold = numbers(env, "street_trader.reward"),
                                  terminated = numbers(env, "terminated"),
                                  truncated = numbers(env, "truncated"),
                                  global = numbers(env, "global"),
                                  shown = numbers(env, "miner.episode.return"),
                                  traded = numbers(env, "street_trader.episode.return"),
                                  trader_obs = numbers(env, "street_trader.obs"),
                                  log = numbers(env, "log.spent");
        for (uint32_t e = 0; e < count; ++e) {
            CAPTURE(e);
            ++steps[e];
            for (uint32_t i = 2 * e; i < 2 * e + 2; ++i) {
                CHECK(dug[i] == 0.5 * dig[i]);
                spent[e] += dug[i];
                miner_return[i] += dug[i];
                CHECK(shown[i] == miner_return[i]);    // an ended episode's, too
            }
            for (uint32_t i = 3 * e; i < 3 * e + 3; ++i) {
                CHECK(sold[i] == 0.5 * sell[i]);
                spent[e] += sold[i];
                trader_return[i] += sold[i];
                CHECK(traded[i] == trader_return[i]);
            }
            const int said = int(end[2 * e]);
            CHECK(terminated[e] == (said == 1));
            CHECK(truncated[e] == (said == 2 || (said == 0 && steps[e] == 6)));
            CHECK(global[2 * e + 1] == 0.5);
            if (terminated[e] + truncated[e] == 0) {
                CHECK(global[2 * e] == spent[e]);
                CHECK(trader_obs[2 * (3 * e)] == double(1 << steps[e]));
                continue;
            }
            CHECK(global[2 * e] == 0);
            CHECK(log[e] == spent[e]);
            CHECK(trader_obs[2 * (3 * e)] == 1);
            CHECK(numbers(env, "street_trader.final_obs")[6 * e + 1] == double(2 << steps[e]));
            log_spent += spent[e];
            log_steps += steps[e];
            returns.ended({mean_of(miner_return, 2 * e, 2), mean_of(trader_return, 3 * e, 3)},
                          steps[e]);
            spent[e] = steps[e] = 0;
            std::fill_n(miner_return.begin() + 2 * e, 2, 0);
            std::fill_n(trader_return.begin() + 3 * e, 3, 0);
        }
    }
    const Totals totals = env.take_totals();
    REQUIRE(totals.episodes > 100);
    returns.check(totals);
    CHECK(totals.policies[0].name == "miner");
    CHECK(totals.policies[1].name == "street_trader");
    REQUIRE(totals.log.size() == 2);
    CHECK(totals.log[0].first == "spent");
    CHECK(totals.log[0].second == doctest::Approx(log_spent / totals.episodes));
    CHECK(totals.log[1].second == doctest::Approx(log_steps / totals.episodes));
    CHECK(env.take_totals().episodes == 0);
}

TEST_CASE("the agents of each Policy are counted by themselves") {
    Environment env(cpu(), settings_of({{"source", "tag_gridworld"}, {"count", 60}}));
    const Header& header = env.schema().header();
    REQUIRE(header.policies == 2);
    CHECK(std::string(header.policy[0].name) == "tagger");
    CHECK(header.policy[0].agents == 4);
    CHECK(std::string(header.policy[1].name) == "runner");
    CHECK(header.policy[1].agents == 1);
    fill_numbers(env, "episode.length", 60);
    PolicyReturns returns(2);
    std::vector<double> running(5 * 60), length(60, 60);
    for (int t = 0; t < 260; ++t) {
        env.step_at_random();
        const std::vector<double> reward = numbers(env, "reward"),
                                  terminated = numbers(env, "terminated"),
                                  truncated = numbers(env, "truncated");
        for (size_t i = 0; i < running.size(); ++i) running[i] += reward[i];
        for (size_t e = 0; e < 60; ++e) {
            ++length[e];
            if (terminated[e] + truncated[e] == 0) continue;
            returns.ended({mean_of(running, 5 * e, 4), running[5 * e + 4]}, length[e]);
            std::fill_n(running.begin() + std::ptrdiff_t(5 * e), 5, 0);
            length[e] = 0;
        }
    }
    REQUIRE(returns.episodes >= 120);
    returns.check(env.take_totals());
}

TEST_CASE("what is not finite is named with its group, its agent and its environment") {
    const Folder folder;
    const std::filesystem::path source = folder.write("wages.cu", wages);
    {
        Environment env(cpu(), settings_of({{"source", source}, {"count", 20}}));
        std::vector<double> pay(60);
        pay[3 * 7 + 2] = std::nan("");
        pay[3 * 9 + 0] = HUGE_VAL;
        const uint64_t tick = env.tick();
        write_numbers(env, "street_trader.action.pay", pay);
        env.step();
        fill_numbers(env, "street_trader.action.pay", 0);
        env.step();    // does nothing: the arrays show the offender
        const std::string words = complaint([&] { env.check_finite(); });
        CHECK_MESSAGE(contains(words, "street_trader.action of agent 2 of environment 7 is not "
                                      "finite since step " +
                                          std::to_string(tick)),
                      words);
    }
    {
        Environment env(
            cpu(), settings_of({{"source", source}, {"count", 20}, {"params", {{"scale", 1e38}}}}));
        std::vector<double> pay(60);
        pay[3 * 7 + 2] = 10;
        write_numbers(env, "street_trader.action.pay", pay);
        env.step();
        const std::string words = complaint([&] { env.check_finite(); });
        CHECK_MESSAGE(
            contains(words, "street_trader.reward of agent 2 of environment 7 is infinite"), words);
    }
    {
        Environment env(cpu(), settings_of({{"source", source}, {"count", 20}}));
        std::vector<double> dug(40);
        dug[2 * 11 + 1] = -HUGE_VAL;
        write_numbers(env, "miner.dug", dug);
        env.step();
        const std::string words = complaint([&] { env.check_finite(); });
        CHECK_MESSAGE(contains(words, "miner.obs of agent 1 of environment 11 is minus infinity"),
                      words);
    }
    {
        Environment env(cpu(), settings_of({{"source", source}, {"count", 20}}));
        std::vector<double> held(60, 1);
        held[3 * 4 + 1] = 3e38;
        write_numbers(env, "street_trader.held", held);
        env.step();
        const std::string words = complaint([&] { env.check_finite(); });
        CHECK_MESSAGE(contains(words, "street_trader.obs of agent 1 of environment 4 is infinite"),
                      words);
    }
}
