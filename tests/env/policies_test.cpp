#include "engine/compile/stand_in.h"
#include "engine/env/policy_settings.h"
#include "tests/env/workbench.h"

#include <doctest/doctest.h>

// Policies that the configuration gives agents to.
using namespace nacelle;
using namespace nacelle::test;

namespace {

AssignedPolicies policies_of(const Json& json) {
    return read_policies(Config(json, "run.json", "env.policies"));
}
void check_refused(const Json& json, const std::string& wanted) {
    const std::string words = complaint([&] { policies_of(json); });
    CHECK_MESSAGE(contains(words, wanted), words);
}

const char* const two_groups = R"(#include <nacelle/env.h>
struct Market {
    struct Params { float start = 1; };
    struct State { float price; };
    struct Buyer {
        static constexpr int count = 3;
        float cash;
        struct Action { nacelle::Discrete<3> bid; };
        struct Obs { float price; };
    };
    struct Seller {
        static constexpr int count = 2;
        float stock;
        struct Action { nacelle::Discrete<2> ask; };
        struct Obs { float price, stock; };
    };
    using Agents = nacelle::Groups<Buyer, Seller>;
    using Team = nacelle::Team<Market>;
    using Buys = nacelle::Member<Market, Buyer>;
    using Sells = nacelle::Member<Market, Seller>;
    static void reset(Team& team, const Params& p) {
        team.once([&](State& s) { s.price = p.start; });
    }
    static nacelle::Ending step(Team& team, const Params&) {
        team.each([](Buys& me) { me.reward = float(me.action.bid); });
        team.each([](Sells& me) { me.reward = 10 + float(me.action.ask); });
        return nacelle::Ending::terminated;
    }
    static Buyer::Obs observe(const Team& team, const Buys&, const Params&) {
        return {team.state().price};
    }
    static Seller::Obs observe(const Team& team, const Sells& me, const Params&) {
        return {team.state().price, me.stock};
    }
};
NACELLE_ENV(Market)
)";

}

TEST_CASE("agents are given to policies by their numbers, in the order of the first ones") {
    const AssignedPolicies read =
        policies_of({{"red", {5, "1-3", 0}}, {"blue", 4}, {"all", "6-8"}});
    REQUIRE(read.size() == 3);
    CHECK(read[0].name == "red");
    CHECK(read[1].name == "blue");
    CHECK(read[2].name == "all");
    CHECK(policies_json(read) == Json({{"red", {"0-3", 5}}, {"blue", {4}}, {"all", {"6-8"}}}));
    CHECK(policy_defines(read, "here") ==
          std::vector<std::string>{"NACELLE_POLICIES=\"red\",\"blue\",\"all\",",
                                   "NACELLE_ASSIGNED={0,0,3,1},{0,5,5,1},{1,4,4,1},{2,6,8,1},"});
    // Every second one is a single range of a kernel's code.
    const AssignedPolicies even = policies_of({{"even", {0, 2, 4, 6}}});
    REQUIRE(even[0].agents.size() == 1);
    CHECK(even[0].agents[0].step == 2);
    CHECK(policies_json(even) == Json({{"even", {0, 2, 4, 6}}}));
    CHECK(policies_of(Json::object()).empty());
}

TEST_CASE("policies that cannot be are refused with the agent or the name") {
    check_refused({{"red", 0}, {"blue", {"0-2"}}}, "agent 0 is in 'blue' already");
    check_refused({{"red", {1, "0-2"}}}, "red: has agent 1 twice");
    check_refused({{"red", Json::array()}}, "red: has no agents");
    check_refused({{"red", "7-3"}}, "the agents \"7-3\" end before they begin");
    check_refused({{"red", -1}}, "expected agents from 0 to 32767, found -1");
    check_refused({{"red", "0-40000"}}, "expected agents from 0 to 32767");
    check_refused({{"red", 0.5}}, "expected agents, found 0.5");
    check_refused({{"red", {{"agents", 1}}}}, "\"FIRST-LAST\"");
    check_refused({{"red", "tagger"}}, "expected agents, found \"tagger\"");
    check_refused({{"default", 0}}, "stands for all policies");
    check_refused({{"red.blue", 0}}, "is no name of a policy");
    check_refused({{"re d", 0}}, "is no name of a policy");
    check_refused({{std::string(64, 'x'), 0}}, "is no name of a policy");
    Json nine;
    for (int i = 0; i < 9; ++i) nine["p" + std::to_string(i)] = i;
    check_refused(nine, "there are 9 policies; expected 8 at most");
}

TEST_CASE("policies must fit the agents of the environment") {
    const Folder folder;
    const std::string market = folder.write("market.cu", two_groups).string();
    const Environment env(cpu(1), settings_of({{"source", market}, {"count", 1}}));
    const auto words = [](const Json& policies, const EnvSchema& schema) {
        return complaint([&] { require_agents(policies_of(policies), schema, "run.json"); });
    };
    const auto check = [&](const Json& policies, const std::string& wanted) {
        const std::string found = words(policies, env.schema());
        CHECK_MESSAGE(contains(found, wanted), found);
    };
    CHECK(words({{"a", "0-2"}, {"b", "3-4"}}, env.schema()).empty());
    CHECK(words(Json::object(), env.schema()).empty());
    check({{"a", "0-2"}, {"b", "3-5"}}, "env.policies.b: Market has no agent 5");
    check({{"a", "0-2"}, {"b", "3-5"}}, "its agents are 0 to 4");
    check({{"a", "0-3"}, {"b", 4}},
          "env.policies.a: agent 0 is of 'buyer', agent 3 of 'seller', which sees and does "
          "something else");
    check({{"a", "0-3"}, {"b", 4}}, "agents here are buyer 0 to 2, seller 3 to 4");
    check({{"a", "0-2"}, {"b", 3}}, "of the 5 agents of Market, agent 4 has no policy");
    check({{"a", "1-2"}, {"b", 3}}, "agents 0 and others have no policy");
    check({{"a", 0}, {"b", 4}}, "agents 1 to 3 have no policy");
    const Environment pole(cpu(1), settings_of({{"source", "cartpole"}, {"count", 1}}));
    CHECK(contains(words({{"red", 0}}, pole.schema()), "env.policies: CartPole has one agent"));
    // Every way to an environment asks.
    CHECK(contains(
        complaint([&] {
            Environment(cpu(1), settings_of({{"source", market}, {"policies", {{"a", 0}}}}));
        }),
        "agents 1 to 4 have no policy"));
}

TEST_CASE("returns are counted for each policy that agents were given to, in groups, too") {
    const Folder folder;
    const auto market = folder.write("market.cu", two_groups);
    Environment env(cpu(1),
                    settings_of({{"source", market.string()},
                                 {"count", 50},
                                 {"policies", {{"buyers", {0, 2}}, {"odd", 1}, {"sell", "3-4"}}}}));
    const Header& header = env.schema().header();
    REQUIRE(header.policies == 3);
    CHECK(std::string(header.policy[0].name) == "buyers");
    CHECK(header.policy[0].agents == 2);
    CHECK(header.policy[0].group == 0);
    CHECK(std::string(header.policy[1].name) == "odd");
    CHECK(header.policy[1].agents == 1);
    CHECK(std::string(header.policy[2].name) == "sell");
    CHECK(header.policy[2].agents == 2);
    CHECK(header.policy[2].group == 1);
    for (int i = 0; i < 20; ++i) env.step_at_random();
    const Totals totals = env.take_totals();
    REQUIRE(totals.policies.size() == 3);
    CHECK(totals.policies[0].mean_return > 0.8);
    CHECK(totals.policies[0].mean_return < 1.2);
    CHECK(totals.policies[1].mean_return > 0.8);
    CHECK(totals.policies[1].mean_return < 1.2);
    CHECK(totals.policies[2].mean_return > 10.3);
    CHECK(totals.policies[2].mean_return < 10.7);
    // What learns from the sizes alone sees the same policies.
    const std::string stand_in = stand_in_text(env.schema());
    Environment sizes(cpu(1),
                      settings_of({{"source", folder.write("sizes.cu", stand_in).string()}}));
    CHECK(stand_in_text(sizes.schema()) == stand_in);
    for (uint32_t p = 0; p < 3; ++p) {
        CHECK(sizes.schema().header().policy[p].agents == header.policy[p].agents);
        CHECK(sizes.schema().header().policy[p].group == header.policy[p].group);
    }
}
