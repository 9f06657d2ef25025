#include "engine/base/suggest.h"

#include <doctest/doctest.h>
#include <random>
#include <string>
#include <utility>
#include <vector>

using nacelle::suggest;

namespace {

const std::vector<std::string> names{"gravity", "cart_mass", "dt", "body.at.x", "env.count"};

}

TEST_CASE("a slip of the hand finds the name that was meant") {
    CHECK(suggest("gravty", names) == "did you mean 'gravity'?");      // left out
    CHECK(suggest("gravitty", names) == "did you mean 'gravity'?");    // put in
    CHECK(suggest("gravidy", names) == "did you mean 'gravity'?");     // changed
    CHECK(suggest("garvity", names) == "did you mean 'gravity'?");     // swapped
    CHECK(suggest("td", names) == "did you mean 'dt'?");
    CHECK(suggest("Gravity", names) == "did you mean 'gravity'?");
    CHECK(suggest("cart-mass", names) == "did you mean 'cart_mass'?");
}

TEST_CASE("a dotted name is compared part by part") {
    CHECK(suggest("env.cuont", names) == "did you mean 'env.count'?");
    CHECK(suggest("bdy.at.x", names) == "did you mean 'body.at.x'?");
    CHECK(suggest("count", names) == "did you mean 'env.count'?");
    CHECK(suggest("params.gravity", names) == "did you mean 'gravity'?");
    CHECK(suggest("env.params.mass", {"env.params.time"}) == "there is: env.params.time");
}

TEST_CASE("the nearest name wins, and of equals the first") {
    CHECK(suggest("learning_rote", {"learning_rite", "learning_rate"}) ==
          "did you mean 'learning_rite'?");
    CHECK(suggest("horizom", {"horizons", "horizon"}) == "did you mean 'horizon'?");
}

TEST_CASE("where nothing is near, what there is gets listed") {
    CHECK(suggest("friction", {"a", "b", "c"}) == "there is: a, b, c");
    CHECK(suggest("y", {"x", "z"}) == "there is: x, z");
    CHECK(suggest("", {"x"}) == "there is: x");
    CHECK(suggest("anything", {}).empty());
}

TEST_CASE("a long list is cut after eight names") {
    std::vector<std::string> many{"a1", "b2", "c3", "d4", "e5", "f6", "g7", "h8"};
    CHECK(suggest("friction", many) == "there is: a1, b2, c3, d4, e5, f6, g7, h8");
    many.push_back("i9");
    CHECK(suggest("friction", many) == "there is: a1, b2, c3, d4, e5, f6, g7, h8, ...");
}

TEST_CASE("one random edit of a random name is always recognised") {
    std::mt19937 random(std::random_device{}());
    const auto below = [&](size_t bound) { return random() % bound; };
    const auto letter = [&] { return static_cast<char>('a' + below(26)); };
    for (int trial = 0; trial < 2000; ++trial) {
        std::string name(4 + below(12), ' ');
        for (char& each : name) each = letter();
        std::string wrong = name;
        const size_t at = below(wrong.size() - 1);
        switch (below(4)) {
            case 0: wrong.erase(at, 1); break;
            case 1: wrong.insert(at, 1, letter()); break;
            case 2: wrong[at] = letter(); break;
            default: std::swap(wrong[at], wrong[at + 1]);
        }
        if (wrong == name) continue;
        INFO(name << " from " << wrong);
        CHECK(suggest(wrong, {"zzzzzzzzzzzzzzzzzzzz", name}) == "did you mean '" + name + "'?");
    }
}
