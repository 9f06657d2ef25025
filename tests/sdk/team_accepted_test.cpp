#include "tests/sdk/accepted.h"
#include "tests/sdk/team_everything.h"

#include <doctest/doctest.h>

// What an author of a team may write: it compiles with both compilers, and both export the same
// table but for the numbers of threads.
using namespace nacelle;
using namespace nacelle::test;

TEST_CASE("what the agents of a group have is stored under the group's name") {
    const EnvSchema schema = accepted(team_everything);
    const std::pair<const char*, const char*> forms[] = {
        {"param.mood", "u8"},
        {"param.rich", "f32 12"},
        {"state.worth", "f32"},
        {"state.grass", "u8 3 4"},
        {"field_hunter.at.x", "f32"},
        {"field_hunter.mood", "u8"},
        {"field_hunter.notes", "i32 2 2"},
        {"field_hunter.action.gait", "i32"},
        {"field_hunter.action.push", "f32 2"},
        {"field_hunter.obs", "f32 9"},
        {"field_hunter.obs.grass", "u8 3 4"},
        {"field_hunter.final_obs", "f32 9"},
        {"field_hunter.mask", "u8 5"},
        {"field_hunter.turn", "none"},
        {"field_hunter.ended", "none"},
        {"field_hunter.bin", "none"},
        {"field_hunter.reward", "f32"},
        {"field_hunter.episode.return", "f32"},
        {"prey.at.y", "f32"},
        {"prey.alive", "b8"},
        {"prey.rest", "u8"},
        {"prey.bin", "i16"},
        {"prey.action.go", "i32"},
        {"prey.obs", "f32 5"},
        {"prey.mask", "u8 4"},
        {"prey.turn", "u8"},
        {"prey.ended", "b8"},
        {"prey.reward", "f32"},
        {"prey.episode.return", "f32"},
        {"obs", "none"},
        {"reward", "none"},
        {"terminated", "b8"},
        {"truncated", "b8"},
        {"global", "f32 3"},
        {"log.eaten", "i32"},
        {"log.worth", "f32"},
        {"episode.number", "u32"},
        {"episode.length", "i32"},
    };
    for (const auto& [array, wanted] : forms) {
        const std::string name = array;
        CAPTURE(name);
        CHECK(form(schema, name) == wanted);
    }
    const Header& header = schema.header();
    CHECK(header.is_team == 1);
    CHECK(header.agents == 40);
    REQUIRE(header.groups == 2);
    CHECK(std::string(header.group[0].name) == "field_hunter");
    CHECK(std::string(header.group[1].name) == "prey");
    CHECK(header.group[0].count == 3);
    CHECK(header.group[1].count == 37);
    CHECK(header.group[0].action_parts == 3);
    CHECK(header.group[0].has_turn == 0);
    CHECK(header.group[1].has_turn == 1);
    REQUIRE(header.policies == 2);
    CHECK(std::string(header.policy[1].name) == "prey");
    CHECK(header.policy[1].agents == 37);
    CHECK(header.policy[1].group == 1);
    CHECK(schema.shape(*schema.find("prey.obs"), 7) == std::vector<int64_t>{7 * 37, 5});
    CHECK(schema.shape(*schema.find("field_hunter.notes"), 7) == std::vector<int64_t>{7 * 3, 2, 2});
    CHECK(schema.shape(*schema.find("prey.at.x"), 7) == std::vector<int64_t>{7 * 37});
}

TEST_CASE("a team of one group has the names of an environment with one agent") {
    const EnvSchema schema = accepted(TeamParts{.agent = "float y; nacelle::Array<int8_t, 5> list;",
                                                .more = "enum class Policy { low, high }; static "
                                                        "constexpr Policy policy(int id) { return "
                                                        "id > 0 ? Policy::high : Policy::low; }"}
                                          .text());
    for (const char* const name : {"agent.y", "agent.list", "action.go", "obs", "final_obs",
                                   "reward", "episode.return", "terminated"}) {
        CAPTURE(std::string(name));
        CHECK(schema.find(name) != nullptr);
    }
    const Header& header = schema.header();
    CHECK(header.agents == 3);
    CHECK(header.groups == 1);
    REQUIRE(header.policies == 2);
    CHECK(std::string(header.policy[0].name) == "low");
    CHECK(header.policy[0].agents == 1);
    CHECK(std::string(header.policy[1].name) == "high");
    CHECK(header.policy[1].agents == 2);
}

TEST_CASE("an observation of images alone has no array of numbers") {
    const EnvSchema schema = accepted(
        TeamParts{.obs = "nacelle::Array<uint8_t, 4, 3> near, far;",
                  .observe = "static void observe(const Team&, const Member&, const Params&, "
                             "Obs& o) { o.near.fill(1); o.far.fill(2); }"}
            .text());
    CHECK(schema.header().group[0].obs_width == 0);
    CHECK(schema.find("obs") == nullptr);
    CHECK(schema.find("final_obs") == nullptr);
    for (const char* const name : {"obs.near", "obs.far", "final_obs.near", "final_obs.far"})
        CHECK(schema.shape(*schema.find(name), 7) == std::vector<int64_t>{7 * 3, 4, 3});
}

TEST_CASE("a team may do without Params, State and fields of its agents") {
    const EnvSchema schema = accepted(
        TeamParts{.params = "",
                  .state = "",
                  .agent = "",
                  .obs = "float wide[300];",
                  .observe = "static void observe(const Team&, const Member& me, const Params&, "
                             "Obs& o) { for (float& x : o.wide) x = float(me.id); }"}
            .text());
    CHECK(schema.header().group[0].obs_width == 300);
    const EnvSchema none = accepted(TeamParts{
        .params = "none",
        .state = "none",
        .reset = "struct Nothing {}; static void reset(Team&, const auto&) {}",
        .step = "static nacelle::Ending step(Team&, const auto&) { return "
                "nacelle::Ending::running; }",
        .observe = "static Obs observe(const Team&, const Member&, const auto&) { return {}; }"}
                                        .text());
    CHECK(none.header().agents == 3);
}

TEST_CASE("the largest teams that may be are accepted") {
    const EnvSchema schema =
        accepted(TeamParts{.constants = "static constexpr int agents = 32768;"}.text());
    CHECK(schema.header().agents == 32768);
}
