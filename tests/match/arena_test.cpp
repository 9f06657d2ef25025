#include "tests/match/games.h"
#include "tests/support/on_gpu.h"
#include "tests/support/random.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>
#include <set>

using namespace nacelle;
using namespace nacelle::test;

namespace {

struct Duels {
    Folder folder;
    Environment env;
    Arena arena;
    explicit Duels(uint32_t count = 8)
        : env(quick_cpu(),
              settings_of({{"source", folder.write("duel.cu", duel).string()}, {"count", count}})),
          arena(env) {}
};

Player pair_of(size_t left, size_t right) {
    return {.name = "a", .policies = {duellist("left", left, 0), duellist("right", right, 0.5f)}};
}

// Remembers h, which is 1/2, 3/4, 7/8, ... after so many of its own steps: picks 1 up to 0.8, and then 3.
std::shared_ptr<const TrainedPolicy> counting(const std::string& name) {
    PolicyDescription description{
        .name = name,
        .observation = {{"obs", 2}},
        .actions = {{"action.pick", {.choices = 4}}, {"action.push", {.low = -1, .high = 1}}},
        .weights = "weights",
        .sizes = {2, 1, 5},
        .cells = {PolicyCell::mingru},
        .activation = PolicyActivation::relu};
    return std::make_shared<TrainedPolicy>(
        std::move(description),
        [](const std::string&) {
            return std::vector<float>{0, 0, 0, 0, 0, 1, 0, 0, 0, 100, 0, 0, 0, -1, -80, 0};
        },
        "a test");
}

// What the agents of the right side get in a game for their picks: one of them waits in three steps of six.
double rights(int pick) { return pick * (3 * 2 + 6 * 5); }

bool same_games(const std::vector<Game>& a, const std::vector<Game>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Game& x, const Game& y) {
        return x.actions == y.actions && x.returns == y.returns && x.steps == y.steps;
    });
}

std::string refusal(const std::string& name, const Json& constants = Json::object()) {
    return complaint([&] {
        Environment env(quick_cpu(),
                        settings_of({{"source", name}, {"count", 2}, {"constants", constants}}));
        sides_of(env);
    });
}

}

TEST_CASE("each policy decides for its own agents, whatever their ids") {
    Duels duels;
    CHECK(duels.arena.sides().roles);
    CHECK(duels.arena.sides().names == std::array<std::string, 2>{"left", "right"});
    CHECK(duels.arena.sides().side_of == std::vector<std::vector<uint8_t>>{{0, 1, 0, 0, 1}});
    const Player a = pair_of(3, 1), b = pair_of(1, 2);
    // 20 games are more than run side by side.
    for (const Game& game : duels.arena.play({&a, &b}, {.games = 20})) {
        CHECK(game.steps == 6);
        CHECK(game.finished);
        CHECK(game.returns[0] == 6 * 3 * (1 + 3 + 4));
        CHECK(game.returns[1] == rights(2) + 3000);
    }
}

TEST_CASE("a policy that remembers begins each game anew, and sees what an opening does") {
    Duels duels;
    const Player a{.name = "a", .policies = {counting("left"), counting("right")}};
    for (const Game& game : duels.arena.play({&a, &a}, {.games = 20})) {
        CHECK(game.returns[0] == (2 * 1 + 4 * 3) * (1 + 3 + 4));
        // Of six steps agent 1 takes three.
        CHECK(game.returns[1] == 2 * (1 + 1 + 3) + 5 * (2 * 1 + 4 * 3));
    }
    double most = 0;
    for (const Game& game : duels.arena.play({&a, &a}, {.games = 20, .opening = 3})) {
        CHECK(game.returns[0] >= 3 * (1 + 3) * (1 + 3 + 4));
        most = std::max(most, game.returns[0]);
    }
    // What three random steps and then 1, 1 and 3 cannot come to.
    CHECK(most > (3 * 3 + 5) * (1 + 3 + 4));
}

TEST_CASE("who acts at random keeps to the masks, and all do so in an opening") {
    Duels duels;
    const Player random = random_player(duels.env), a = pair_of(3, 1);
    std::set<double> found;
    for (const Game& game : duels.arena.play({&random, &a}, {.games = 50})) {
        CHECK(game.returns[0] >= 6 * (1 + 3 + 4));    // nobody may pick 0
        CHECK(game.returns[0] <= 6 * 3 * (1 + 3 + 4));
        CHECK(game.returns[1] == rights(1) + 3000);
        found.insert(game.returns[0]);
    }
    CHECK(found.size() > 20);
    // One step of six is the policies' own.
    const auto opened = duels.arena.play({&a, &a}, {.games = 50, .opening = 5});
    for (const Game& game : opened) CHECK(game.returns[0] >= (5 * 1 + 3) * (1 + 3 + 4));
    CHECK(opened[0].actions != opened[1].actions);
}

TEST_CASE("the same seed plays the same games and begins them alike, whoever plays") {
    Duels duels;
    const Player random = random_player(duels.env), a = pair_of(3, 1), b = pair_of(1, 2);
    const GameSettings settings{.games = 20, .seed = fresh_seed() >> 12, .opening = 2};
    CAPTURE(settings.seed);
    const auto first = duels.arena.play({&random, &a}, settings);
    const auto start = numbers(duels.env, "obs");
    CHECK(same_games(first, duels.arena.play({&random, &a}, settings)));
    GameSettings other = settings;
    ++other.seed;
    CHECK(!same_games(first, duels.arena.play({&random, &a}, other)));
    duels.arena.play({&b, &random}, settings);
    CHECK(start == numbers(duels.env, "obs"));
}

TEST_CASE("drawn actions are those of an agent, not of those that act beside it") {
    Duels duels(2);
    // Pushes are drawn, and stay the same for all six steps: the sum is six times one draw.
    const Player a{
        .name = "a",
        .policies = {duellist("left", 1, 0), duellist("right", 1, 0, std::log(0.25f), 6)}};
    const auto games = duels.arena.play({&a, &a}, {.games = 2, .sampled = true});
    CHECK(games[0].returns[1] != games[1].returns[1]);
    const std::vector<double> last = numbers(duels.env, "action.push");
    for (size_t game = 0; game < 2; ++game) {
        CHECK(std::abs(last[5 * game + 4]) < 1);
        CHECK(games[game].returns[1] ==
              doctest::Approx(rights(1) + 6000 * last[5 * game + 4]).epsilon(1e-4));
    }
    const auto greedy = duels.arena.play({&a, &a}, {.games = 2});
    CHECK(greedy[0].returns[1] == rights(1));
}

TEST_CASE("players take turns: whoever starts has four stones in its column first") {
    Environment env(quick_cpu(), recommended("connect_four", 16));
    Arena arena(env);
    CHECK(!arena.sides().roles);
    const Player a = stacker(0), b = stacker(3);
    const std::vector<Game> games = arena.play({&a, &b}, {.games = 40});
    size_t first = 0;
    for (const Game& game : games) {
        CHECK(game.steps == 7);
        CHECK(game.returns[0] == -game.returns[1]);
        CHECK(std::abs(game.returns[0]) == 1);
        first += game.returns[0] == 1;
    }
    CHECK(first > 5);
    CHECK(first < 35);
    // The same beginnings with the sides exchanged: each has won as often as it has lost.
    const Meeting meeting = meet(arena, a, b, {.games = 40});
    CHECK(meeting.won == 40);
    CHECK(meeting.lost == 40);
    CHECK(meeting.games == 80);
    CHECK(meeting.different == 4);
    // Who fills columns against who stacks one: a mask keeps full columns out.
    CHECK(meet(arena, a, stacker(0), {.games = 10}).won == 10);
}

TEST_CASE("where sides are roles, more reward in both games of a round wins it") {
    Duels duels;
    const Player strong = pair_of(3, 3), weak = pair_of(1, 1), left = pair_of(3, 1),
                 right = pair_of(1, 3);
    const GameSettings settings{.games = 12};
    const auto told = [&](const Player& a, const Player& b) {
        const Meeting one = meet(duels.arena, a, b, settings);
        CHECK(one.games == 24);
        return std::array{one.won, one.drawn, one.lost};
    };
    CHECK(told(strong, weak) == std::array<uint64_t, 3>{12, 0, 0});
    CHECK(told(weak, strong) == std::array<uint64_t, 3>{0, 0, 12});
    CHECK(told(strong, strong) == std::array<uint64_t, 3>{0, 12, 0});
    // 3 as left is worth more than 3 as right.
    CHECK(told(left, right) == std::array<uint64_t, 3>{12, 0, 0});
    const Meeting one = meet(duels.arena, left, right, settings);
    CHECK(one.returns[0][0].front() == 6 * 3 * (1 + 3 + 4) / 3.0);
    CHECK(one.returns[1][1].front() == (rights(3) + 3000) / 2);
}

TEST_CASE("the kernel that names who decides for an agent compiles for a GPU") {
    std::unique_ptr<Compiler> compiler;
    try {
        compiler = open_nvrtc("sm_90", shared_cache());
    } catch (const Error&) {
        NACELLE_SKIP("NVRTC is not here");
    }
    ProgramSource source = stepwise_program(env_folder / "tag_gridworld.cu");
    source.instantiation = "#include <nacelle/programs/deciders.h>\nNACELLE_DECIDERS()\n";
    const Compiled result = compiler->compile(source);
    const auto* const wrong = std::get_if<Diagnostics>(&result);
    CHECK_MESSAGE(!wrong, (wrong ? wrong->text() : std::string()));
    if (!wrong) CHECK(std::get<Binary>(result).warnings == "");
}

TEST_CASE("a GPU plays games of the same rules" * test::on_gpu()) {
    std::shared_ptr<RunsOn> on;
    try {
        on = open("cuda");
    } catch (const Error& error) {
        NACELLE_SKIP(error.what());
    }
    Environment env(on, recommended("tag_gridworld", 16));
    CHECK(sides_of(env).side_of == std::vector<std::vector<uint8_t>>{{0, 0, 0, 0, 1}});
    Environment four(on, recommended("connect_four", 16));
    Arena arena(four);
    const Meeting meeting = meet(arena, stacker(0), stacker(3), {.games = 40});
    CHECK(meeting.won == 40);
    CHECK(meeting.lost == 40);
}

TEST_CASE("an environment without two sides is refused with what is needed") {
    const std::string needed =
        " (a match is played by two agents of one policy, or by two policies)";
    CHECK(refusal("cartpole") ==
          "CartPole: is for one agent, who has nobody to play against" + needed);
    CHECK(contains(refusal(source_path("tests/algorithms/environments/crowd.cu")), needed));
}
