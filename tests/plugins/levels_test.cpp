#include "tests/plugins/bench.h"

using namespace nacelle;
using namespace nacelle::test;

namespace {

// A level of walls with one floor cell and the goal beside it.
std::string level(int x, int y, int side = 15) {
    std::string text;
    for (int row = 0; row < side; ++row) {
        std::string line(static_cast<size_t>(side), '#');
        if (row == y) line.replace(static_cast<size_t>(x), 2, ".G");
        text += line + "\n";
    }
    return text;
}

std::string refused(const std::string& text) {
    const Folder folder;
    folder.write("levels.txt", text);
    Environment env(cpu(), recommended("mazes", 4));
    Plugins plugins = plugins_of({product_plugins});
    const std::string what = complaint([&] {
        run_hook(plugins, env, "levels", {{"param", "mazes"}, {"file", "levels.txt"}},
                 folder.path());
    });
    const std::string prefix = "levels: " + folder.path().string() + "/";
    return what.starts_with(prefix) ? what.substr(prefix.size()) : what;
}

}

TEST_CASE("levels drawn in a text become an environment's table") {
    const Folder folder;
    folder.write("levels.txt", "\n" + level(3, 1) + "\n\n" + level(5, 9) + "\n" + level(7, 13));
    Environment env(cpu(), recommended("mazes", 64));
    env.set_param("ways", 1);
    Plugins plugins = plugins_of({product_plugins});
    run_hook(plugins, env, "levels", {{"param", "mazes"}, {"file", "levels.txt"}}, folder.path());
    env.reset();
    const auto which = numbers(env, "state.level"), x = numbers(env, "state.x"),
               y = numbers(env, "state.y");
    std::vector<int> seen(3);
    for (size_t i = 0; i < which.size(); ++i) {
        const auto at = static_cast<size_t>(which[i]);
        REQUIRE(at < 3);
        ++seen[at];
        CHECK(x[i] == 3 + 2 * which[i]);
        CHECK(y[i] == (at == 0 ? 1 : at == 1 ? 9 : 13));
    }
    for (const int count : seen) CHECK(count > 0);

    // The goal is on the right: one step there ends every episode.
    fill_numbers(env, "action.go", 1);
    env.step();
    CHECK(numbers(env, "terminated") == std::vector<double>(64, 1));
}

TEST_CASE("a wrong drawing is named by file and line") {
    CHECK(refused(level(1, 1) + "\n###\n") == "levels.txt:17: a row of 3 cells; the first has 15");
    CHECK(refused("###\n#x#\n") ==
          "levels.txt:2: there is no cell 'x' ('#' wall, '.' floor, 'G' goal)");
    CHECK(refused("###\n#.#\n\n###\n") ==
          "levels.txt:4: the level ends after 1 rows; the first has 2");
    CHECK(refused("###\n#.#\n\n###\n\n###\n###\n") ==
          "levels.txt:4: the level ends after 1 rows; the first has 2");
    CHECK(refused("\n\n") == "levels.txt holds no levels");
}

TEST_CASE("levels of a size that the environment does not take are refused with both forms") {
    CHECK(refused("##\n#G\n") ==
          "levels: the data: holds u8 [1, 2, 2]; the table 'mazes' of Mazes is u8 [any, 15, 15]");
}

TEST_CASE("the levels hook says what it misses") {
    const Folder folder;
    Environment env(cpu(), recommended("mazes", 4));
    Plugins plugins = plugins_of({product_plugins});
    const auto run = [&](const Json& config) {
        return complaint([&] { run_hook(plugins, env, "levels", config, folder.path()); });
    };
    CHECK(run({{"param", "mazes"}}) == "levels: needs the settings 'param' and 'file'");
    CHECK(run({{"param", "mazes"}, {"files", "a"}}) ==
          "levels: files: there is no such setting (did you mean 'file'?)");
    CHECK(run({{"param", "mazes"}, {"file", "none.txt"}}) ==
          "levels: " + (folder.path() / "none.txt").string() + " cannot be read");
    folder.write("levels.txt", level(1, 1));
    CHECK(contains(run({{"param", "maze"}, {"file", "levels.txt"}}),
                   "Mazes has no parameter 'maze' (did you mean 'mazes'?)"));
}
