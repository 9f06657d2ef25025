#include "tests/env/authors.h"
#include "tests/env/workbench.h"

#include <cmath>
#include <doctest/doctest.h>
#include <map>

using namespace nacelle;
using namespace nacelle::test;

namespace {

Environment draws_env(const Folder& folder, Json params, uint32_t count = 2000,
                      Json more = Json::object()) {
    more["source"] = folder.write("draws.cu", draws);
    more["count"] = count;
    more["params"] = std::move(params);
    return Environment(cpu(), settings_of(more));
}

struct Moments {
    double low, high, mean, deviation;
};
Moments moments(const std::vector<double>& values) {
    double sum = 0, squares = 0;
    for (const double x : values) {
        sum += x;
        squares += x * x;
    }
    const double n = double(values.size()), mean = sum / n;
    return {*std::min_element(values.begin(), values.end()),
            *std::max_element(values.begin(), values.end()), mean,
            std::sqrt(squares / n - mean * mean)};
}

}

TEST_CASE("parameters are the author's defaults unless the configuration says more") {
    const Folder folder;
    Environment env = draws_env(folder,
                                {{"whole", 9},
                                 {"nested", {{"x", 4.5}}},
                                 {"list", {5, 6, 7}},
                                 {"flag", false},
                                 {"byte", 255}},
                                3);
    CHECK(numbers(env, "state.number") == std::vector<double>(3, 1));
    CHECK(numbers(env, "state.fine") == std::vector<double>(3, 0.5));
    CHECK(numbers(env, "state.whole") == std::vector<double>(3, 9));
    CHECK(numbers(env, "state.x") == std::vector<double>(3, 4.5));
    CHECK(numbers(env, "state.list") == std::vector<double>{5, 5, 5, 6, 6, 6, 7, 7, 7});
    CHECK(numbers(env, "state.flag") == std::vector<double>(3, 0));
    CHECK(numbers(env, "state.byte") == std::vector<double>(3, 255));
    CHECK(env.param("whole") == 9);
    CHECK(env.param("nested.x") == 4.5);
    CHECK(env.param("nested.y") == 2);
    CHECK(env.param("list") == Json({5, 6, 7}));
    CHECK(env.param("flag") == false);
    CHECK(env.param("fine") == 0.5);
}

TEST_CASE("a parameter that is set is seen by the next step") {
    const Folder folder;
    Environment env = draws_env(folder, Json::object(), 3);
    env.set_param("number", 7.5);
    env.step();
    CHECK(numbers(env, "reward") == std::vector<double>(3, 7.5));
    CHECK(numbers(env, "state.number") == std::vector<double>(3, 7.5));
    env.set_param("list", {1, 2, 4});
    env.set_param("flag", false);
    env.set_param("fine", 1e-9);
    env.set_param("nested.x", -1);
    env.reset();
    CHECK(numbers(env, "state.list") == std::vector<double>{1, 1, 1, 2, 2, 2, 4, 4, 4});
    CHECK(numbers(env, "state.flag") == std::vector<double>(3, 0));
    CHECK(numbers(env, "state.fine") == std::vector<double>(3, 1e-9));
    CHECK(numbers(env, "state.x") == std::vector<double>(3, -1));
    env.set_param("list", 3);    // one number for all of a list
    env.reset();
    CHECK(numbers(env, "state.list") == std::vector<double>(9, 3));
}

TEST_CASE("distributions are drawn for each environment at each reset, within their bounds") {
    const Folder folder;
    Environment env = draws_env(folder, {{"number", {{"uniform", {2, 4}}}},
                                         {"whole", {{"uniform", {3, 6}}}},
                                         {"nested", {{"x", {{"log_uniform", {0.01, 100}}}}}},
                                         {"list", {{"normal", {5, 2}}}},
                                         {"fine", {{"choice", {1, 2, 8}}}}});
    const Moments number = moments(numbers(env, "state.number"));
    CHECK(number.low >= 2);
    CHECK(number.high < 4);
    CHECK(number.mean == doctest::Approx(3).epsilon(0.02));
    CHECK(number.deviation == doctest::Approx(2 / std::sqrt(12.0)).epsilon(0.05));

    std::map<int, int> whole;
    for (const double x : numbers(env, "state.whole")) ++whole[int(x)];
    CHECK(whole.size() == 4);
    for (int n = 3; n <= 6; ++n) CHECK(std::abs(whole[n] - 500) < 100);

    std::vector<double> logs;
    for (const double x : numbers(env, "state.x")) logs.push_back(std::log10(x));
    const Moments log = moments(logs);
    CHECK(log.low >= -2.0001);
    CHECK(log.high <= 2.0001);
    CHECK(std::abs(log.mean) < 0.12);
    CHECK(log.deviation == doctest::Approx(4 / std::sqrt(12.0)).epsilon(0.05));

    const Moments list = moments(numbers(env, "state.list"));
    CHECK(list.mean == doctest::Approx(5).epsilon(0.03));
    CHECK(list.deviation == doctest::Approx(2).epsilon(0.05));
    std::vector<double> elements = numbers(env, "state.list");
    std::sort(elements.begin(), elements.end());
    CHECK(std::unique(elements.begin(), elements.end()) - elements.begin() >
          5900);    // each element its own

    std::map<double, int> choice;
    for (const double x : numbers(env, "state.fine")) ++choice[x];
    CHECK(choice.size() == 3);
    for (const double x : {1.0, 2.0, 8.0}) CHECK(std::abs(choice[x] - 667) < 110);

    CHECK(bytes_of(env.arrays()["param.number"]) == bytes_of(env.arrays()["state.number"]));
    const auto before = bytes_of(env.arrays()["state.number"]);
    env.step();
    CHECK(bytes_of(env.arrays()["state.number"]) != before);
    CHECK(env.param("number") == Json({{"uniform", {2, 4}}}));
}

TEST_CASE("a distribution may be replaced by another or by a number while it runs") {
    const Folder folder;
    Environment env = draws_env(folder, {{"number", {{"uniform", {2, 4}}}}}, 200);
    env.set_param("number", {{"uniform", {10, 11}}});
    env.step();
    const Moments later = moments(numbers(env, "state.number"));
    CHECK(later.low >= 10);
    CHECK(later.high < 11);
    env.set_param("number", 5);
    CHECK(numbers(env, "param.number") == std::vector<double>(200, 5));
    env.step();
    CHECK(numbers(env, "reward") == std::vector<double>(200, 5));
    CHECK(numbers(env, "state.number") == std::vector<double>(200, 5));
    const std::string words = complaint([&] { env.set_param("whole", {{"uniform", {1, 2}}}); });
    CHECK_MESSAGE(contains(words, "was compiled as one number for all environments"), words);
}

TEST_CASE("constants from the configuration are compiled in") {
    const Folder folder;
    Environment plain = draws_env(folder, Json::object(), 1),
                changed = draws_env(folder, Json::object(), 1,
                                    {{"constants", {{"width", 7}, {"height", 0.25}}}});
    CHECK(numbers(plain, "obs") == std::vector<double>{1, 3, 1.5});
    CHECK(numbers(changed, "obs") == std::vector<double>{1, 7, 0.25});
}

TEST_CASE("levels are drawn below their number, and from all where none is given") {
    const Folder folder;
    Environment some = draws_env(folder, Json::object(), 3000, {{"levels", 5}}),
                all = draws_env(folder, Json::object(), 3000);
    std::map<int, int> levels;
    for (const double level : numbers(some, "state.level")) ++levels[int(level)];
    CHECK(levels.size() == 5);
    for (int level = 0; level < 5; ++level) CHECK(std::abs(levels[level] - 600) < 110);
    const Moments wide = moments(numbers(all, "state.level"));
    CHECK(wide.high < 0x1p31);
    CHECK(wide.mean == doctest::Approx(0x1p30).epsilon(0.05));
}

TEST_CASE("an episode knows its number and how far the run is") {
    const Folder folder;
    Environment env = draws_env(folder, Json::object(), 2);
    CHECK(numbers(env, "state.number_of_episode") == std::vector<double>{0, 0});
    CHECK(numbers(env, "state.progress") == std::vector<double>{0, 0});
    env.set_progress(EpisodeProgress::over(10));
    const double tick = double(env.tick());
    env.step();
    CHECK(numbers(env, "state.number_of_episode") == std::vector<double>{1, 1});
    CHECK(numbers(env, "state.progress")[0] == doctest::Approx(tick / 10));
    for (int t = 0; t < 20; ++t) env.step();
    CHECK(numbers(env, "state.progress") == std::vector<double>{1, 1});
    env.reset(std::vector<uint32_t>{1});
    CHECK(numbers(env, "state.number_of_episode") == std::vector<double>{21, 22});
}
