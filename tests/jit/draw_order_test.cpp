#include "engine/jit/draw_order.h"
#include "tests/support/folders.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <set>

using namespace nacelle;

namespace {

// The lines with open draws, in a text that begins with line 1.
std::set<int> open_lines(const std::string& text) {
    std::set<int> lines;
    for (const OpenDraws& one : find_open_draws({{"author.cu", text}})) lines.insert(one.line);
    return lines;
}

// The same, for statements of a function that has the generator `rng`.
bool is_open(const std::string& statements) {
    const std::string text = "struct Game {\n"
                             "static int pick(const State& s, nacelle::Rng& rng);\n"
                             "static void reset(State& s, const Params& p, nacelle::Rng& rng) {\n" +
                             statements + "\n}\n};\nNACELLE_ENV(Game)\n";
    return !open_lines(text).empty();
}

}

TEST_CASE("two draws in arguments or operands have an open order") {
    for (const char* const statement :
         {"package(3 + rng.below(9), rng.below(12));",
          "s.x = rng.below(3) - rng.below(4);",
          "s.x = 2 * rng.uniform() / rng.uniform();",
          "s.x = rng.below(6) + rng.below(6) + rng.below(6);",
          "if (rng.below(3) < rng.below(4)) s.x = 1;",
          "while (rng.uniform() * p.a > 1.0f - rng.uniform()) ++s.x;",
          "for (int i = 0; i < nacelle::min(rng.below(3), rng.below(3)); ++i) ++s.x;",
          "Vec2 at(rng.uniform(), rng.uniform());",
          "return nacelle::max(pick(s, rng), pick(s, rng));",
          "s.x = pick(s, rng) - rng.below(2);",
          "s.x = nacelle::clamp<int>(rng.below(2), 0, 1 + rng.below(4));",
          "s.x = f(1,\n  rng.below(2),\n  g(rng.below(3)));",
          "s.x = a[rng.below(3)] + b[rng.below(2)];",
          "auto roll = [&] { return rng.below(6); };\ns.x = 10 * roll() + roll();",
          "auto roll = [&](nacelle::Rng& dice) { return f(dice.below(6), dice.below(6)); };",
          "nacelle::Rng level = now.level_rng();\nf(level.below(2), level.below(3));",
          "auto& dice = rng;\nf(dice.below(2), dice.below(2));",
          "team.each([](Member& me, nacelle::Rng& own) { me.x = f(own.bits(), own.bits()); });",
          "s.x = (p.a ? rng.below(2) : 0) + 3 * rng.below(2);",
          "s = {f(rng.below(2), rng.below(3)), 1};"}) {
        CAPTURE(std::string(statement));
        CHECK(is_open(statement));
    }
}

TEST_CASE("draws whose order C++ fixes are left alone") {
    for (const char* const statement :
         {"s = {rng.below(2), rng.below(3)};",
          "s = {.x = rng.uniform(), .y = rng.uniform()};",
          "const Vec2 at{rng.uniform(), rng.uniform()};",
          "f(rng.below(2));",
          "f(g(h(rng.below(2))));",
          "a[rng.below(3)] = rng.below(4);",
          "a[rng.below(3)] += rng.below(4);",
          "s.x = rng.chance(0.5f) ? rng.below(2) : rng.below(3);",
          "if (rng.chance(0.1f) && rng.chance(0.2f) || rng.chance(0.3f)) ++s.x;",
          "x << rng.below(3) << rng.below(4);",
          "const int a = rng.below(2), b = rng.below(3);",
          "rng.below(2), rng.below(3);",
          "s.x = rng.uniform(-1.0f, 1.0f);",
          "s.x = rng.below(1 + rng.below(4));",
          "put(s, pick(s, rng), cell(3, 4), rng);",
          "join(s, from, to, shut ? cell(1, 2) : cell(3), rng);",
          "// f(rng.below(2), rng.below(3));",
          "/* f(rng.below(2),\n rng.below(3)); */",
          "say(\"rng.below(2) + rng.below(3)\", 'x');",
          "s.x = rng.below(6) + rng.below(6);",
          "f(s.rng, p.rng);",
          "auto small = [&] { return rng.uniform(); };\ns = {small(), small()};",
          "team.each([&](Member& me, nacelle::Rng& rng) { me.x = rng.uniform(); me.y = "
          "rng.uniform(); });",
          "nacelle::Rng level = now.level_rng();\nf(level.below(2), rng.below(3));",
          "s.hand[rng.below(3)].card(rng.below(4));",
          "do r = rng.below(4); while (r == rng.below(3));",
          "for (float& x : s.x) x = rng.normal();"}) {
        CAPTURE(std::string(statement));
        CHECK(!is_open(statement));
    }
}

TEST_CASE("a name is a generator only where it is declared as one") {
    CHECK(open_lines("void a(nacelle::Rng& level) { level.below(2); }\n"
                     "void b(State& s, int level) { f(level) + g(level); f(level, g(level)); }\n")
              .empty());
    CHECK(open_lines("struct Dice {\n    nacelle::Rng& rng;\n"
                     "    int roll() { return 1 + rng.below(6); }\n};\n"
                     "void a(Dice& dice) { f(dice.roll(), dice.roll()); }\n") == std::set{5});
}

TEST_CASE("a macro that draws is a draw, and is looked into") {
    CHECK(open_lines("void a(nacelle::Rng& rng) {\n#define ROLL rng.below(6)\n"
                     "f(ROLL, ROLL);\ns.x = ROLL;\n}\n") == std::set{3});
    CHECK(open_lines("#define ROLL(n) \\\n    rng.below(n)\nvoid a(nacelle::Rng& rng) {\n"
                     "f(ROLL(2), ROLL(3));\n}\n") == std::set{4});
    CHECK(open_lines("#define AT f(rng.below(2), rng.below(3))\n"
                     "void a(nacelle::Rng& rng) { AT; }\n") == std::set{1});
    CHECK(open_lines("#define ROLL(r, n) r.below(n)\nvoid a(nacelle::Rng& rng) {\n"
                     "f(ROLL(rng, 2), ROLL(rng, 3));\n}\n") == std::set{3});
}

TEST_CASE("a function of a header that draws is known in the file that includes it") {
    const auto found = find_open_draws(
        {{"author.cu", "void a(nacelle::Rng& dice) {\n    f(deal(dice), deal(dice));\n}\n"},
         {"cards.h", "inline int deal(nacelle::Rng& rng) { return rng.below(52); }\n"}});
    REQUIRE(found.size() == 1);
    CHECK(found[0].file == "author.cu");
    CHECK(found[0].generator == "dice");
    CHECK(found[0].line == 2);
}

TEST_CASE("any text is read to its end") {
    std::string brackets(100000, '(');
    CHECK(open_lines(brackets).empty());
    CHECK(open_lines(std::string(50000, '{') + "[](" + std::string(3000, ')')).empty());
    CHECK(open_lines("#").empty());
    CHECK(open_lines("#define").empty());
    CHECK(open_lines("#\n\\\n#define A(\n\"").empty());
    std::string lambdas;
    for (int i = 0; i < 60; ++i) lambdas += "auto f = [&] { ";
    CHECK(open_lines("void a(nacelle::Rng& rng) { " + lambdas).empty());
}

TEST_CASE("no environment of ours has open draws") {
    int files = 0;
    for (const char* const folder : {"env_sources", "tools/skeletons", "tests/contract/planted",
                                     "tests/algorithms/environments"})
        for (const auto& entry : std::filesystem::directory_iterator(test::source_path(folder))) {
            const std::filesystem::path& file = entry.path();
            if (file.extension() != ".cu" || file.stem() == "open_draws") continue;
            ++files;
            for (const OpenDraws& one : find_open_draws(read_closure(file)))
                FAIL_CHECK(one.file.string() << ":" << one.line);
        }
    CHECK(files > 30);
}
