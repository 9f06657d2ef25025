#include "tests/environments/house.h"
#include "tests/environments/reference_table.h"
#include "tests/support/on_gpu.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>
#include <functional>
#include <set>

// Teams, and rooms, against implementations of their rules that know nothing of ours: see
// tests/references/README.md.
using namespace nacelle;
using namespace nacelle::test;

namespace {

// For floats, relative to max(1, |reference|): float32 against float64. All else must be equal.
struct Tolerance {
    const char* name;
    double step, trajectory;
};
constexpr Tolerance tolerances[] = {
    // Whole numbers and sums of a few rewards; an observation is one division.
    {"tag_gridworld", 1e-6, 1e-6},
    // Positions of up to 20, whose last bit is 2e-6, and angles that add up over 25 steps.
    {"tag_continuous", 1e-5, 1e-4},
    // An observation divides a difference of two places by a cell, 1/9: 9 times the last bit.
    {"pursuit_swarm", 1e-5, 1e-5},
    // 0, 1, -1 and a reward that float32 has exactly.
    {"connect_four", 0, 0},
    // Shares of a shift, each one division.
    {"levers", 1e-7, 1e-7},
    // One reward that float32 has not exactly; images are bytes.
    {"rooms", 1e-7, 1e-7},
};

// What one environment is given and has to show: at[name][t], null where nothing is compared.
struct Play {
    Json start = Json::object(), actions = Json::object(), after = Json::object();

    size_t length() const { return after["terminated"].size(); }
    bool over(size_t t) const { return after["terminated"][t] != 0 || after["truncated"][t] != 0; }
};

bool is_action(const std::string& name) {
    return name.starts_with("action.") || contains(name, ".action.");
}
// Single steps are trajectories of one step.
std::vector<Play> steps_of(const Json& steps) {
    std::vector<Play> plays(steps["after"]["terminated"].size());
    for (size_t i = 0; i < plays.size(); ++i) {
        for (const auto& [name, column] : steps["before"].items())
            if (is_action(name)) plays[i].actions[name] = Json::array({column[i]});
            else plays[i].start[name] = column[i];
        for (const auto& [name, column] : steps["after"].items())
            plays[i].after[name] = Json::array({column[i]});
    }
    return plays;
}
std::vector<Play> trajectories_of(const Json& trajectories) {
    std::vector<Play> plays;
    for (const Json& one : trajectories)
        plays.push_back({one["start"], one["actions"], one["after"]});
    return plays;
}

// The elements of one environment in an array of all, in the order of tables: agent by agent.
class Places final {
public:
    Places(Environment& env, const std::string& name) {
        const Field* const field = env.schema().find(name);
        if (!field) throw std::runtime_error(env.name() + " has no array '" + name + "'");
        const size_t rows = env.schema().rows(*field, env.count());
        width_ = env.schema().elements(*field, env.count()) / env.count();
        across_ = field->layout == Layout::columns ? rows : 1;
        agents_ = rows / env.count();
        per_agent_ = width_ / agents_;
        exact_ = field->dtype != Dtype::f32 && field->dtype != Dtype::f64;
    }
    size_t width() const { return width_; }
    bool exact() const { return exact_; }
    size_t at(size_t env, size_t i) const {
        const size_t row = env * agents_ + i / per_agent_, k = i % per_agent_;
        return across_ == 1 ? row * per_agent_ + k : k * across_ + row;
    }

private:
    size_t width_ = 0, across_ = 1, agents_ = 1, per_agent_ = 1;
    bool exact_ = false;
};

// fn(i, number) for the numbers of an entry: a list of lists, a row that is left out, or one number
// for all elements. Throws where a list has another length than the array.
using Take = std::function<void(size_t i, double number)>;
size_t spread(const Json& entry, size_t width, const Take& take, size_t first = 0) {
    if (entry.is_null()) return 0;
    if (!entry.is_array()) {
        for (size_t i = 0; i < width; ++i) take(first + i, entry.get<double>());
        return width;
    }
    const size_t part = entry.empty() || width % entry.size() ? 0 : width / entry.size();
    size_t seen = 0;
    for (size_t i = 0; i < entry.size(); ++i) {
        if (part == 0 || (part > 1 && entry[i].is_number()))
            throw std::runtime_error(std::to_string(entry.size()) + " entries for " +
                                     std::to_string(width) + " elements");
        seen += spread(entry[i], part, take, first + i * part);
    }
    return seen;
}

void write_entries(Environment& env, const std::vector<Play>& plays, const Json Play::*part,
                   const std::function<const Json*(const Json&)>& entry) {
    std::set<std::string> names;
    for (const Play& play : plays)
        for (const auto& [name, value] : (play.*part).items()) names.insert(name);
    for (const std::string& name : names) {
        const Places places(env, name);
        std::vector<double> values = numbers(env, name);
        for (size_t i = 0; i < plays.size(); ++i)
            if ((plays[i].*part).contains(name))
                if (const Json* const list = entry((plays[i].*part)[name]))
                    spread(*list, places.width(),
                           [&](size_t k, double x) { values[places.at(i, k)] = x; });
        write_numbers(env, name, values);
    }
}

// Where an episode has ended the arrays show the next one: the last observation lies apart, and the
// rest is gone. An empty text then.
std::string shown_as(Environment& env, const std::string& name, bool over) {
    const Role role = env.arrays()[name].role();
    if (!over || role == Role::reward || role == Role::ended || role == Role::terminated ||
        role == Role::truncated)
        return name;
    if (role != Role::obs) return {};
    const size_t at = name.starts_with("obs") ? 0 : name.find(".obs") + 1;
    return name.substr(0, at) + "final_" + name.substr(at);
}

struct Result {
    Worst inexact, exact;    // the latter of whole numbers, flags and bytes
    std::map<std::string, size_t> compared;
};

void compare(Environment& env, const std::vector<Play>& plays, size_t t, Result& result) {
    for (const auto& [name, list] : plays[0].after.items()) {
        std::map<std::string, std::vector<double>> read;
        for (size_t i = 0; i < plays.size(); ++i) {
            if (t >= plays[i].length()) continue;
            const std::string as = shown_as(env, name, plays[i].over(t));
            const Json& entry = plays[i].after[name][t];
            if (as.empty() || entry.is_null()) continue;
            if (!read.contains(as)) read[as] = numbers(env, as);
            const std::vector<double>& found = read[as];
            const Places places(env, as);
            Worst& worst = places.exact() ? result.exact : result.inexact;
            result.compared[name] += spread(entry, places.width(), [&](size_t k, double x) {
                worst.see(found[places.at(i, k)], x,
                          as + "[" + std::to_string(k) + "] after step " + std::to_string(t + 1) +
                              " of environment",
                          i);
            });
        }
    }
}

Environment open_case(const std::shared_ptr<RunsOn>& on, const std::string& name, const Json& one,
                      size_t count) {
    return Environment(on, settings_of({{"source", name},
                                        {"count", count},
                                        {"constants", one["constants"]},
                                        {"params", one["params"]}}));
}

void check_plays(const std::shared_ptr<RunsOn>& on, const std::string& name, const Json& one,
                 const std::vector<Play>& plays, double tolerance) {
    Environment env = open_case(on, name, one, plays.size());
    write_entries(env, plays, &Play::start, [](const Json& value) { return &value; });
    size_t longest = 0;
    for (const Play& play : plays) longest = std::max(longest, play.length());
    Result result;
    for (size_t t = 0; t < longest; ++t) {
        write_entries(env, plays, &Play::actions,
                      [&](const Json& list) { return t < list.size() ? &list[t] : nullptr; });
        env.step();
        compare(env, plays, t, result);
    }
    CAPTURE(result.inexact.where);
    CHECK(result.inexact.error <= tolerance);
    CAPTURE(result.exact.where);
    CHECK(result.exact.error == 0);
    for (const auto& entry : plays[0].after.items()) {
        const std::string& column = entry.key();
        CAPTURE(column);
        CHECK(result.compared[column] > 0);
    }
}

// What an episode begins with, where nothing of it is random.
void check_reset(const std::shared_ptr<RunsOn>& on, const std::string& name, const Json& one) {
    Environment env = open_case(on, name, one, 3);
    Worst worst;
    for (const auto& [key, entry] : one["reset"].items()) {
        const std::string& column = key;
        const Places places(env, column);
        const std::vector<double> found = numbers(env, column);
        for (size_t i = 0; i < env.count(); ++i)
            spread(entry, places.width(), [&](size_t k, double x) {
                worst.see(found[places.at(i, k)], x, column + "[" + std::to_string(k) + "]", i);
            });
    }
    CAPTURE(worst.where);
    CHECK(worst.error <= 1e-6);
}

// The first case of a table on one, the others on another.
using FirstAndOthers = std::pair<std::shared_ptr<RunsOn>, std::shared_ptr<RunsOn>>;
void check_table(const FirstAndOthers& both, const Tolerance& tolerance) {
    const std::string name = tolerance.name;
    Json cases = table_of(name)["cases"];
    REQUIRE(cases.size() > 0);
#ifdef NACELLE_SANITIZE
    cases.erase(cases.begin() + 1, cases.end());    // they are the same code with other sizes
#endif
    for (const Json& one : cases) {
        const std::shared_ptr<RunsOn>& on = &one == &cases.front() ? both.first : both.second;
        const std::string about = name + ": " + one["about"].get<std::string>();
        CAPTURE(about);
        if (one.contains("reset")) check_reset(on, name, one);
        if (one.contains("steps"))
            check_plays(on, name, one, steps_of(one["steps"]), tolerance.step);
        check_plays(on, name, one, trajectories_of(one["trajectories"]), tolerance.trajectory);
    }
}
void check_tables(const FirstAndOthers& both) {
    for (const Tolerance& tolerance : tolerances) check_table(both, tolerance);
}

void check_house(const House& house, int start) {
    for (int at = 0; at < House::side * House::side; ++at) {
        const bool line = House::on_wall_line(at % 64) || House::on_wall_line(at / 64);
        const int thing = house.thing(at);
        const bool in_wall = thing == House::wall || thing == House::door || thing == House::locked;
        REQUIRE(line == in_wall);
        REQUIRE((house.colour(at) > 0) == (thing == House::locked || thing == House::key));
        REQUIRE((house.cells[at] >> 7) == (at == start));
        if (thing == House::goal) CHECK(house.doors_of(House::room_of(at)) == 1);
    }
    CHECK(house.thing(start) == House::floor);
    CHECK(house.count(House::door) + house.count(House::locked) == 15);
    CHECK(house.count(House::goal) == 1);
    for (int colour = 1; colour <= 4; ++colour)
        CHECK(house.count(House::key, colour) == (house.count(House::locked, colour) > 0));
    CHECK(house.open_from(start));
}

}

TEST_CASE("on a CPU, teams and rooms do what independent readings of their rules do") {
    check_tables({cpu_of_users(), cpu()});
}

TEST_CASE("every house of rooms has 15 doors, the keys for them, and a way to every cell") {
    constexpr int houses = 200;
    Environment env(
        cpu(),
        settings_of({{"source", "rooms"}, {"count", houses}, {"params", {{"locked", 0.5}}}}));
    const Places places(env, "state.map");
    const std::vector<double> map = numbers(env, "state.map"), x = numbers(env, "state.x"),
                              y = numbers(env, "state.y");
    CHECK(numbers(env, "state.keys") == std::vector<double>(houses, 0));
    int locked = 0;
    for (int i = 0; i < houses; ++i) {
        CAPTURE(i);
        House house;
        for (int k = 0; k < House::side * House::side; ++k)
            house.cells.push_back(int(map[places.at(i, k)]));
        check_house(house, int(y[i]) * House::side + int(x[i]));
        locked += house.count(House::locked);
    }
    // Of 3,000 doors half: the deviation is 27.
    CHECK(std::abs(locked - 1500) < 140);
}

TEST_CASE("on a GPU, teams and rooms do what independent readings of their rules do" *
          test::on_gpu()) {
    const auto on = open("auto");
    if (!on->cuda()) NACELLE_SKIP(on->why);
    check_tables({on, on});
}
