#include "tests/sdk/refusal.h"

// What an author of a team may not write.
using namespace nacelle;
using namespace nacelle::test;

namespace {

void check(const std::vector<Refusal<TeamParts>>& refusals) { check_refusals(refusals); }

// A team of two groups; a test adds to what they are.
TeamParts groups(const std::string& hunter, const std::string& prey, const std::string& more = {}) {
    TeamParts parts;
    parts.constants = parts.agent = parts.action = parts.obs = parts.observe = parts.reset =
        parts.step = "none";
    parts.names = "struct Hunter { " + hunter + " }; struct Prey { " + prey +
                  " }; using Agents = nacelle::Groups<Hunter, Prey>; using Team = "
                  "nacelle::Team<Probe>; using H = nacelle::Member<Probe, Hunter>; using P = "
                  "nacelle::Member<Probe, Prey>;";
    parts.more =
        "static void reset(Team&, const Params&) {} static nacelle::Ending step(Team&, const "
        "Params&) { return nacelle::Ending::running; } " +
        (more.empty() ? std::string("static Hunter::Obs observe(const Team&, const H&, const "
                                    "Params&) { return {}; } static Prey::Obs observe(const Team&, "
                                    "const P&, const Params&) { return {}; }")
                      : more);
    return parts;
}
const std::string spaces = " struct Action { nacelle::Discrete<2> go; }; struct Obs { float x; }; ";
const std::string sound = "static constexpr int count = 2; float y;" + spaces;
std::string many_groups(int count) {
    std::string structs, list;
    for (int i = 0; i < count; ++i) {
        const std::string name = "G" + std::to_string(i);
        structs += "struct " + name + " { " + sound + " }; ";
        list += (i ? ", " : "") + name;
    }
    return structs + "using Agents = nacelle::Groups<" + list +
           ">; using Team = nacelle::Team<Probe>;";
}

}

TEST_CASE("a team whose agents are not said plainly is refused") {
    const char* const agents = "a team needs 'static constexpr int agents = ...', from 1 to 32768";
    check({
        {"Agent and Agents",
         {.more = "struct Extra { " + sound + " }; using Agents = nacelle::Groups<Extra>;"},
         "a team has 'struct Agent' or 'using Agents = nacelle::Groups<...>', not both"},
        {"Agents that are no Groups",
         {.agent = "none",
          .names = "using Agents = int; using Team = nacelle::Team<Probe>;",
          .observe = "none"},
         "Agents must be 'using Agents = nacelle::Groups<A, B>', one to four groups"},
        {"five groups",
         {.agent = "none", .names = many_groups(5), .observe = "none"},
         "one to four groups"},
        {"no number of agents", {.constants = "none"}, agents},
        {"no agent", {.constants = "static constexpr int agents = 0;"}, agents},
        {"too many agents", {.constants = "static constexpr int agents = 32769;"}, agents},
        {"half an agent", {.constants = "static constexpr float agents = 2.5f;"}, agents},
        {"a number of agents that may change", {.constants = "static int agents;"}, agents},
        {"a group that is not counted", groups("float y;" + spaces, sound),
         "a group needs 'static constexpr int count = ...', from 1 to 32768 over all"},
        {"an empty group", groups(sound, "static constexpr int count = 0;" + spaces),
         "a group needs 'static constexpr int count = ...'"},
        {"groups that are too many together",
         groups("static constexpr int count = 20000;" + spaces,
                "static constexpr int count = 20000;" + spaces),
         "from 1 to 32768 over all"},
    });
}

TEST_CASE("what an agent cannot hold is refused") {
    check({
        {"pointer in Agent",
         {.agent = "float* y;"},
         "an agent's struct has a field that cannot be stored: use numbers, bools, enums, plain "
         "structs, C arrays of those, nacelle::Array<T, sizes...>"},
        {"Discrete in Agent",
         {.agent = "nacelle::Discrete<2> y;"},
         "an agent's struct cannot hold a Discrete, a Continuous or a Table: those belong in "
         "Action and Params"},
        {"private field of an Agent",
         {.agent = "float y; private: float z;"},
         "an agent's struct must be a plain struct"},
        {"100 numbers in Agent",
         {.agent = "float y[100];"},
         "an agent's struct has an array of more than 64 elements"},
        {"five dimensions of an agent",
         {.before = "struct In { float x[2][2]; }; struct Out { In in[2][2]; };",
          .agent = "Out out[2];"},
         "an agent's struct has an array of more than 4 dimensions"},
        {"an agent's own id",
         {.agent = "int id;"},
         "an agent's field is called id, action, reward or acts, which every member has already: "
         "choose another name"},
        {"an agent's own action", {.agent = "float y, action;"}, "choose another name"},
        {"an agent's own reward", {.agent = "float reward;"}, "choose another name"},
        {"an agent's own acts", {.agent = "bool acts;"}, "choose another name"},
        {"no Action",
         {.action = "none"},
         "the environment needs 'struct Action', for example { nacelle::Discrete<2> push; }"},
        {"empty Obs",
         {.obs = ""},
         "the environment needs 'struct Obs', the numbers that the policy sees"},
        {"a group without Obs",
         groups(sound,
                "static constexpr int count = 1; struct Action { nacelle::Discrete<2> go; };",
                "static Hunter::Obs observe(const Team&, const H&, const Params&) { return {}; }"),
         "the environment needs 'struct Obs'"},
        {"a number in a group's Action",
         groups(
             "static constexpr int count = 1; struct Action { float x; }; struct Obs { float x; };",
             sound),
         "Action may hold nacelle::Discrete<N>"},
        {"Table in a group's Obs",
         groups(sound, "static constexpr int count = 1; struct Action { nacelle::Discrete<2> go; "
                       "}; struct Obs { nacelle::Table<float, 4> x; };"),
         "Obs cannot hold a Discrete, a Continuous or a Table"},
        {"pointer in a team's State",
         {.state = "float* x;"},
         "State has a field that cannot be stored"},
        {"an Array in a team's Params",
         {.params = "nacelle::Array<float, 4> x;"},
         "Params cannot hold an Array or a space"},
    });
}

TEST_CASE("a team's function with another signature is named with the right one") {
    const char* const reset = "a team needs 'static void reset(nacelle::Team<E>&, const Params&)'";
    const char* const step =
        "a team needs 'static nacelle::Ending step(nacelle::Team<E>&, const Params&)'";
    const char* const observe =
        "a team needs 'static Obs observe(const Team&, const Member&, const Params&)' or 'static "
        "void observe(const Team&, const Member&, const Params&, Obs&)', one for each group";
    check({
        {"no reset", {.reset = "none"}, reset},
        {"reset of one agent's kind",
         {.reset = "static void reset(State&, const Params&, nacelle::Rng&) {}"},
         reset},
        {"no step", {.step = "none"}, step},
        {"step that gives an Outcome",
         {.step = "static nacelle::Outcome step(Team&, const Params&) { return {}; }"},
         step},
        {"step that gives a bool",
         {.step = "static bool step(Team&, const Params&) { return true; }"},
         step},
        {"no observe", {.observe = "none"}, observe},
        {"observe without a member",
         {.observe = "static Obs observe(const Team&, const Params&) { return {}; }"},
         observe},
        {"observe that changes the team",
         {.observe = "static Obs observe(Team&, const Member&, const Params&) { return {}; }"},
         observe},
        {"observe of one group alone",
         groups(sound, sound,
                "static Hunter::Obs observe(const Team&, const H&, const Params&) { return {}; }"),
         observe},
        {"a wide Obs by value",
         {.obs = "float x[257];"},
         "an Obs with a nacelle::Array or more than 256 numbers is filled in place: 'static void "
         "observe(const Team&, const Member&, const Params&, Obs&)'"},
        {"an Array in an Obs by value",
         {.obs = "nacelle::Array<uint8_t, 4, 4> image;"},
         "an Obs with a nacelle::Array or more than 256 numbers is filled in place"},
    });
}

TEST_CASE("a team's optional function with another signature is an error, not silence") {
    const char* const policy = "enum class Policy goes with 'static constexpr Policy policy(int "
                               "id)', in a team of one group; each group is a policy of its own";
    const char* const enumerators = "policy(id) must give one of Policy's enumerators, which are 1 "
                                    "to 8, from 0 on without a gap";
    check({
        {"mask without a member",
         {.more = "static void mask(const Team&, const Params&, nacelle::Mask<Action>&) {}"},
         "mask must be 'static void mask(const Team&, const Member&, const Params&, "
         "nacelle::Mask<Action>&)'"},
        {"turn without Params",
         {.more = "static nacelle::Turn turn(const Team&, const Member&) { return "
                  "nacelle::Turn::acts; }"},
         "turn must be 'static nacelle::Turn turn(const Team&, const Member&, const Params&)'"},
        {"turn that gives a bool",
         {.more = "static bool turn(const Team&, const Member&, const Params&) { return true; }"},
         "turn must be"},
        {"Policy without policy()", {.more = "enum class Policy { one, two };"}, policy},
        {"a policy() of a member",
         {.more = "enum class Policy { one, two }; static constexpr Policy policy(const Member&) "
                  "{ return Policy::one; }"},
         policy},
        {"a policy() that no compiler can call",
         {.more = "enum class Policy { one, two }; static Policy policy(int id) { return "
                  "Policy(id % 2); }"},
         policy},
        {"Policy beside groups",
         groups(sound, sound,
                "static Hunter::Obs observe(const Team&, const H&, const Params&) { return {}; } "
                "static Prey::Obs observe(const Team&, const P&, const Params&) { return {}; } "
                "enum class Policy { one }; static constexpr Policy policy(int) { return "
                "Policy::one; }"),
         policy},
        {"a Policy of nobody",
         {.more =
              "enum class Policy {}; static constexpr Policy policy(int) { return Policy(0); }"},
         enumerators},
        {"nine policies",
         {.more = "enum class Policy { a, b, c, d, e, f, g, h, i }; static constexpr Policy "
                  "policy(int) { return Policy::a; }"},
         enumerators},
        {"a policy that is not named",
         {.more = "enum class Policy { one, two }; static constexpr Policy policy(int id) { "
                  "return Policy(id); }"},
         enumerators},
        {"Policy with a gap",
         {.more = "enum class Policy { one = 1, two }; static constexpr Policy policy(int) { "
                  "return Policy::two; }"},
         enumerators},
        {"report without Log",
         {.more = "static float report(const Team&, const Params&) { return 0; }"},
         "report needs 'struct Log', the numbers that it returns"},
        {"report that asks the team",
         {.more = "struct Log { float x; }; static Log report(const Team& team, const Params&) {\n "
                  "return {float(team.count([](const Member&) { return true; }))}; /*here*/ }"},
         "a const Team answers no question: ask it in step(), and keep the answer in State, or go "
         "through its agents by team[id]"},
        {"report of a State",
         {.more = "struct Log { float x; }; static Log report(const State&, const Params&) { "
                  "return {}; }"},
         "report must be 'static Log report(const Team&, const Params&)'"},
        {"overview of a State",
         {.more = "struct Global { float x; }; static Global overview(const State&, const Params&) "
                  "{ return {}; }"},
         "overview must be 'static Global overview(const Team&, const Params&)', with a struct "
         "Global"},
        {"draw of a State",
         {.more = "static void draw(nacelle::Canvas&, const State&, const Params&) {}"},
         "draw must be 'static void draw(nacelle::Canvas&, const Team&, const Params&)'"},
        {"draw that changes the team",
         {.more = "static void draw(nacelle::Canvas&, Team&, const Params&) {}"},
         "draw must be 'static void draw(nacelle::Canvas&, const Team&, const Params&)'"},
        {"draw of one member",
         {.more = "static void draw(nacelle::Canvas&, const Team&, const Member&, const Params&) "
                  "{}"},
         "draw must be 'static void draw(nacelle::Canvas&, const Team&, const Params&)'"},
        {"prepare of a Team",
         {.more = "static void prepare(Team&) {}"},
         "prepare must be 'static void prepare(Params&)'"},
    });
}

TEST_CASE("a mistake inside a team's function stands at its own line") {
    check({
        {"a phase in observe",
         {.observe = "static Obs observe(const Team& team, const Member&, const Params&) { "
                     "team.each([](Member& me) { me.y = 1; }); return {}; } /*here*/"},
         ""},
        {"another member written",
         {.step = "static nacelle::Ending step(Team& team, const Params&) { team.each([&](Member& "
                  "me) { team[me.id == 0].y = 1; }); return nacelle::Ending::running; } /*here*/"},
         ""},
        {"a group that is not named",
         groups(sound, sound,
                "static Hunter::Obs observe(const Team& team, const H&, const Params&) { return "
                "{float(team.nearest<1>([](auto&) { return 1.0f; }).count)}; } /*here*/ static "
                "Prey::Obs observe(const Team&, const P&, const Params&) { return {}; }"),
         "with several groups the lambda names its member's type"},
        {"a group without bins sorted",
         {.step = "static nacelle::Ending step(Team& team, const Params&) { team.sort([](const "
                  "Member& m) { return m.id; }); return nacelle::Ending::running; } /*here*/"},
         "a group that is sorted needs 'static constexpr int bins = ...'"},
    });
}
