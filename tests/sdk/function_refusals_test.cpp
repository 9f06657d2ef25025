#include "tests/sdk/refusal.h"

#include <doctest/doctest.h>

// An author's functions that are missing or have another signature: one error, at the author's line, in plain words, from both compilers.
using namespace nacelle;
using namespace nacelle::test;

TEST_CASE("a function that is missing or has another signature is named with the right one") {
    const char* const reset = "needs 'static void reset(State&, const Params&, nacelle::Rng&)', "
                              "with 'const nacelle::Episode&' at the end if wanted";
    const char* const step =
        "needs 'static nacelle::Outcome step(State&, const Action&, const Params&, "
        "nacelle::Rng&)', with 'const nacelle::Episode&' at the end if wanted";
    const char* const observe =
        "needs 'static Obs observe(const State&, const Params&)' or 'static void observe(const "
        "State&, const Params&, Obs&)', with 'const nacelle::Episode&' at the end if wanted";
    check_refusals<Parts>({
        {"no reset", {.reset = "none"}, reset},
        {"reset without Rng", {.reset = "static void reset(State&, const Params&) {}"}, reset},
        {"reset of a const State",
         {.reset = "static void reset(State&, Params&, nacelle::Rng&) {}"},
         reset},
        {"reset that is no static function",
         {.reset = "void reset(State&, const Params&, nacelle::Rng&) {}"},
         reset},
        {"no step", {.step = "none"}, step},
        {"step that returns nothing",
         {.step = "static void step(State&, const Action&, const Params&, nacelle::Rng&) {}"},
         step},
        {"step without an action",
         {.step =
              "static nacelle::Outcome step(State&, const Params&, nacelle::Rng&) { return {}; }"},
         step},
        {"a time limit that may change",
         {.more = "static int time_limit;"},
         "time_limit must be 'static constexpr int time_limit = ...', a number of steps from 0 on"},
        {"a time limit in seconds",
         {.more = "static constexpr float time_limit = 10.5f;"},
         "time_limit must be"},
        {"a negative time limit",
         {.more = "static constexpr int time_limit = -1;"},
         "time_limit must be"},
        {"half a thread",
         {.more = "static constexpr double threads = 0.5;"},
         "threads must be 'static constexpr int threads = ...', a number from 0 on"},
        {"no observe", {.observe = "none"}, observe},
        {"observe that returns a number",
         {.observe = "static float* observe(const State&, const Params&) { return nullptr; }"},
         observe},
        {"observe that changes the state",
         {.observe = "static Obs observe(State&, const Params&) { return {}; }"},
         observe},
        {"observe with a State alone",
         {.observe = "static Obs observe(const State&) { return {}; }"},
         observe},
        {"private functions",
         {.reset = "private: static void reset(State&, const Params&, nacelle::Rng&) {}"},
         reset},
    });
}

TEST_CASE("an optional function with another signature is an error, not silence") {
    check_refusals<Parts>({
        {"mask without Params",
         {.more = "static void mask(const State&, nacelle::Mask<Action>&) {}"},
         "mask must be 'static void mask(const State&, const Params&, nacelle::Mask<Action>&)'"},
        {"mask of a State that it changes",
         {.more = "static void mask(State&, const Params&, nacelle::Mask<Action>&) {}"},
         "mask must be"},
        {"report without Log",
         {.more = "static float report(const State&, const Params&) { return 0; }"},
         "report needs 'struct Log', the numbers that it returns"},
        {"report without Params",
         {.more = "struct Log { float x; }; static Log report(const State&) { return {}; }"},
         "report must be 'static Log report(const State&, const Params&)', with 'const "
         "nacelle::Episode&' at the end if wanted"},
        {"Log without report",
         {.more = "struct Log { float x; };"},
         "struct Log is filled by 'static Log report(const State&, const Params&)', which is "
         "missing"},
        {"overview without Params",
         {.more =
              "struct Global { float x; }; static Global overview(const State&) { return {}; }"},
         "overview must be 'static Global overview(const State&, const Params&)', with a struct "
         "Global"},
        {"overview without Global",
         {.more = "static float overview(const State&, const Params&) { return 0; }"},
         "overview must be"},
        {"Global without overview",
         {.more = "struct Global { float x; };"},
         "struct Global is filled by 'static Global overview(const State&, const Params&)', which "
         "is missing"},
        {"draw without Canvas",
         {.more = "static void draw(const State&, const Params&) {}"},
         "draw must be 'static void draw(nacelle::Canvas&, const State&, const Params&)'"},
        {"draw that changes the State",
         {.more = "static void draw(nacelle::Canvas&, State&, const Params&) {}"},
         "draw must be 'static void draw(nacelle::Canvas&, const State&, const Params&)'"},
        {"draw with an Episode",
         {.more = "static void draw(nacelle::Canvas&, const State&, const Params&, const "
                  "nacelle::Episode&) {}"},
         "draw must be 'static void draw(nacelle::Canvas&, const State&, const Params&)'"},
        {"a polygon of two corners",
         {.more = "static void draw(nacelle::Canvas& c, const State&, const Params&) { "
                  "c.polygon({0, 0, 1, 1}); } /*here*/"},
         "a polygon has 3 to 32 corners"},
        {"prepare of const Params",
         {.more = "static void prepare(const State&) {}"},
         "prepare must be 'static void prepare(Params&)'"},
    });
}

TEST_CASE("a mistake inside a function stands at its own line") {
    check_refusals<Parts>({
        {"no such member",
         {.reset =
              "static void reset(State& s, const Params&, nacelle::Rng&) { s.y = 3; } /*here*/"},
         "y"},
        {"no such parameter",
         {.step = "static nacelle::Outcome step(State&, const Action&, const Params& p, "
                  "nacelle::Rng&) {\n return {.reward = p.h}; /*here*/ }"},
         "h"},
        {"too many numbers",
         {.observe =
              "static Obs observe(const State& s, const Params&) { return {s.x, 1.0f}; } /*here*/"},
         "initializer"},
        {"an Array assigned",
         {.state = "nacelle::Array<float, 8> a; int n;",
          .reset =
              "static void reset(State& s, const Params&, nacelle::Rng&) { s.a = s.a; } /*here*/"},
         "what holds a nacelle::Array is not assigned as a whole: set each field, and the Array by "
         "its fill, as in s.map.fill(0)"},
        {"a State with an Array cleared",
         {.state = "nacelle::Array<float, 8> a; int n;",
          .reset =
              "static void reset(State& s, const Params&, nacelle::Rng&) { s = {}; } /*here*/"},
         "is not assigned as a whole"},
        {"an action that is set",
         {.step = "static nacelle::Outcome step(State&, const Action& a, const Params&, "
                  "nacelle::Rng&) {\n a.go = 1; /*here*/\n return {}; }"},
         "an action is what the policy chose, and is only read: copy it into a number first, as in "
         "int push = action.push"},
        {"an action that is added to",
         {.step = "static nacelle::Outcome step(State&, const Action& a, const Params&, "
                  "nacelle::Rng&) {\n Action b = a; b.go += 1; /*here*/\n return {}; }"},
         "an action is what the policy chose"},
        {"a State with an Array copied",
         {.state = "nacelle::Array<float, 8> a; int n;",
          .reset = "static void reset(State& s, const Params&, nacelle::Rng&) { State t = s; s = "
                   "t; } /*here*/"},
         "is not assigned as a whole"},
        {"a masked Continuous",
         {.action = "nacelle::Continuous<> go;",
          .more = "static void mask(const State&, const Params&, nacelle::Mask<Action>& m) { "
                  "m.forbid(&Action::go, 0); } /*here*/"},
         "only a Discrete action can be masked"},
        {"std::min",
         {.reset = "static void reset(State& s, const Params&, nacelle::Rng&) { s.x = "
                   "std::min(s.x, 1.0f); } /*here*/"},
         "the standard library is not there on a GPU"},
        {"another name than the struct's", {.name = "Prob"}, "Prob"},
        {"a Discrete without choices",
         {.action = "nacelle::Discrete<0> go; /*here*/"},
         "a Discrete needs at least one choice"},
        {"bounds the wrong way round",
         {.action = "nacelle::Continuous<1, -1> go; /*here*/"},
         "the lower bound of a Continuous must lie below the upper one"},
        {"too few indices",
         {.state = "nacelle::Array<float, 4, 4> map;",
          .reset = "static void reset(State& s, const Params&, nacelle::Rng&) { s.map(1) = 0; } "
                   "/*here*/"},
         "as many indices as the array has dimensions"},
    });
}
