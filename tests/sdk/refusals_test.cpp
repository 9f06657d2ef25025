#include "tests/sdk/refusal.h"

#include <doctest/doctest.h>

// What an author may not write: one error, at the author's line, in plain words, from both compilers.
using namespace nacelle;
using namespace nacelle::test;

namespace {

const std::string vec2 = "struct Vec2 { float x, y; };";
std::string many(int count) {
    std::string fields;
    for (int i = 0; i < count; ++i) fields += "float f" + std::to_string(i) + "; ";
    return fields;
}
const std::string long_name(64, 'a');

}

TEST_CASE("a struct that is not plain data is refused") {
    check_refusals<Parts>({
        {"private field",
         {.state = "float x; private: float y;"},
         "State must be a plain struct: no constructor, no private field, no virtual function"},
        {"constructor",
         {.state = "float x; State() : x(0) {}"},
         "State must be a plain struct: no constructor, no private field, no virtual function: it "
         "has a constructor"},
        {"virtual function",
         {.state = "float x; virtual void f() {}"},
         "State must be a plain struct"},
        {"private field of a nested struct",
         {.before = "struct Vec2 { float x; private: float y; };", .obs = "Vec2 pos;"},
         "Obs must be a plain struct: no constructor, no private field, no virtual function: its "
         "field 'pos' is a Vec2, which has a private field"},
        {"constructor of a struct in a struct",
         {.before = "struct Vec2 { Vec2() {} float x; }; struct Body { int n; Vec2 at; };",
          .state = "float x; Body body;"},
         "its field 'body.at' is a Vec2, which has a constructor"},
        {"base class",
         {.before = vec2, .state = ": Vec2 { float z; }"},
         "State must not have a base class: make it a field"},
        {"base class and nothing else",
         {.before = vec2, .state = ": Vec2 { }"},
         "State must not have a base class: make it a field"},
        {"base class of a nested struct",
         {.before = vec2 + " struct Vec3 : Vec2 { float z; };", .state = "Vec3 pos;"},
         "State must not have a base class: make it a field"},
        {"base class of Params",
         {.before = vec2, .params = ": Vec2 { float z = 1; }"},
         "Params must not have a base class: make it a field"},
        {"const member",
         {.state = "const int x = 3; float y;"},
         "State has a const or reference field: constants belong in Params or 'static constexpr'"},
        {"reference", {.state = "float& x;"}, "State has a const or reference field"},
        {"const member of a nested struct",
         {.before = "struct Vec2 { const float x = 0; };", .obs = "Vec2 pos;"},
         "Obs has a const or reference field"},
        {"pointer",
         {.state = "float* x;"},
         "State has a field that cannot be stored: use numbers, bools, enums, plain structs"},
        {"pointer in Params",
         {.params = "const float* x = nullptr;"},
         "Params has a field that cannot be stored: use numbers, enums, nested structs, C arrays, "
         "nacelle::Table<T, sizes...>"},
        {"list of pointers", {.state = "float* x[3];"}, "State has a field that cannot be stored"},
        {"union",
         {.before = "union U { int a; float b; };", .state = "U u;"},
         "State has a field that cannot be stored"},
        {"std::vector",
         {.state = "/*here*/ std::vector<float> x;"},
         "the standard library is not there on a GPU"},
    });
}

TEST_CASE("a struct that reflection cannot take apart is refused") {
    check_refusals<Parts>({
        {"65 fields",
         {.state = many(65)},
         "State has more than 64 fields: gather some in a nested struct or an array"},
        {"100 fields", {.params = many(100)}, "Params has more than 64 fields"},
        {"long name",
         {.state = "float " + long_name + ";"},
         "State has a field whose name is longer than 63 characters"},
        {"long names of nested structs",
         {.before = "struct Vec2 { float " + std::string(40, 'b') + "; };",
          .state = "Vec2 " + std::string(40, 'c') + ";"},
         "State has a field whose name is longer than 63 characters"},
        {"bit-field",
         {.state = "/*here*/ unsigned a : 3; unsigned b : 5;"},
         "a bit-field cannot be an array: use a whole number (uint8_t alive)"},
        {"anonymous struct",
         {.state = "/*here*/ struct { float a, b; }; float c;"},
         "an anonymous struct or union has no name to find it by: give it one"},
        {"anonymous union",
         {.state = "/*here*/ union { float a; int b; }; float c;"},
         "an anonymous struct or union has no name to find it by: give it one"},
        {"std::array",
         {.before = "#include <array> /*here*/\n", .state = "std::array<float, 4> a;"},
         "std::array cannot be stored: use a C array (float x[3])"},
    });
}

TEST_CASE("what is too large is refused with what to use instead") {
    check_refusals<Parts>({
        {"1,000 floats",
         {.state = "float big[1000];"},
         "State has an array of more than 64 elements: use nacelle::Array<T, sizes...>, which is "
         "not copied"},
        {"65 floats", {.state = "float big[65];"}, "State has an array of more than 64 elements"},
        {"10 by 10 bytes",
         {.state = "uint8_t big[10][10];"},
         "State has an array of more than 64 elements"},
        {"65 numbers in a log",
         {.more = "struct Log { float x[65]; }; static Log report(const State&, const Params&) { "
                  "return {}; }"},
         "Log has an array of more than 64 elements"},
        {"65 parts of an action",
         {.action = "nacelle::Discrete<2> go[65];"},
         "Action has an array of more than 64 elements"},
        {"a wide Obs by value",
         {.obs = "float image[4096];"},
         "an Obs of more than 256 numbers is filled in place: 'static void observe(const State&, "
         "const Params&, Obs&)'"},
        {"40 KB of Params",
         {.params = "float big[10000];"},
         "Params is larger than 32 KiB: large read-only data is a nacelle::Table<T, sizes...>"},
        {"a C array of Arrays",
         {.state = "nacelle::Array<float, 8> rows[4];"},
         "State has a C array of nacelle::Array: give the Array one more size instead"},
        {"five dimensions",
         {.state = "float x[2][2][2][2][2];"},
         "State has an array of more than 4 dimensions, counting the arrays of structs around it: "
         "make two of them one, as in x[2 * 3] for x[2][3]"},
        {"five dimensions by structs, of a parameter",
         {.before = "struct In { float x[2][2]; }; struct Out { In in[2][2]; };",
          .params = "Out out[2];"},
         "Params has an array of more than 4 dimensions"},
        {"an Array of five sizes",
         {.state = "nacelle::Array<float, 2, 2, 2, 2, 2> big;"},
         "State has an array of more than 4 dimensions"},
        {"a C array of Tables",
         {.params = "nacelle::Table<float, 8> rows[4];"},
         "Params has a C array of nacelle::Table: give the Table one more size instead"},
        {"a Table in an array of structs",
         {.before = "struct Set { int n = 0; nacelle::Table<float, 8> rows; };",
          .params = "Set sets[4];"},
         "Params has a C array of nacelle::Table"},
        {"an Array of a struct",
         {.before = vec2, .state = "float x; nacelle::Array<Vec2, 8> cells;"},
         "State has an Array or a Table of structs: each holds numbers or enums, so give each "
         "field "
         "of the struct one of its own: its field 'cells' holds Vec2"},
        {"a Table of a struct",
         {.before = vec2, .params = "nacelle::Table<Vec2, 8> places;"},
         "Params has an Array or a Table of structs: each holds numbers or enums, so give each "
         "field of the struct one of its own: its field 'places' holds Vec2"},
    });
}

TEST_CASE("a type in the wrong struct is refused") {
    check_refusals<Parts>({
        {"Discrete in State",
         {.state = "nacelle::Discrete<2> x;"},
         "State cannot hold a Discrete, a Continuous or a Table: those belong in Action and "
         "Params"},
        {"Table in State",
         {.state = "nacelle::Table<float, 4> x;"},
         "State cannot hold a Discrete, a Continuous or a Table"},
        {"number in Action",
         {.action = "float x;"},
         "Action may hold nacelle::Discrete<N>, nacelle::Continuous<Low, High> and arrays of "
         "those, and nothing else"},
        {"an array of structs of two choices",
         {.before = "struct Arm { nacelle::Discrete<3> go; nacelle::Continuous<-1, 1> grip; };",
          .action = "Arm arms[2];"},
         "Action has an array of structs with several spaces: give each of these an array of its "
         "own"},
        {"number beside a Discrete",
         {.action = "nacelle::Discrete<2> go; bool fire;"},
         "Action may hold nacelle::Discrete<N>"},
        {"Array in Action",
         {.action = "nacelle::Array<int, 3> x;"},
         "Action may hold nacelle::Discrete<N>"},
        {"pointer in Action",
         {.action = "int* x;"},
         "Action has a field that cannot be stored: use nacelle::Discrete<N>, "
         "nacelle::Continuous<Low, High> and arrays of those"},
        {"Continuous in Obs",
         {.obs = "nacelle::Continuous<> x;"},
         "Obs cannot hold a Discrete, a Continuous or a Table: use numbers, and nacelle::Array<T, "
         "sizes...> for images"},
        {"Table in Obs",
         {.obs = "nacelle::Table<float, 4> x;"},
         "Obs cannot hold a Discrete, a Continuous or a Table"},
        {"Array in Params",
         {.params = "nacelle::Array<float, 4> x;"},
         "Params cannot hold an Array or a space: large read-only data is a nacelle::Table<T, "
         "sizes...>"},
        {"Discrete in Params",
         {.params = "nacelle::Discrete<4> x;"},
         "Params cannot hold an Array or a space"},
        {"Array in Log",
         {.more = "struct Log { nacelle::Array<float, 2> x; }; static Log report(const State&, "
                  "const Params&);"},
         "Log may hold numbers only"},
        {"Discrete in Global",
         {.more = "struct Global { nacelle::Discrete<2> x; }; static Global overview(const State&, "
                  "const Params&) { return {}; }"},
         "Global may hold numbers only"},
        {"an Array in an Obs by value",
         {.obs = "nacelle::Array<uint8_t, 4, 4> image;",
          .observe = "static Obs observe(const State&, const Params&) { return {}; }"},
         "an Obs with a nacelle::Array is filled in place: 'static void observe(const State&, "
         "const Params&, Obs&)'"},
    });
}

TEST_CASE("a struct that is missing or empty is asked for") {
    check_refusals<Parts>({
        {"no State",
         {.state = "none", .reset = "none", .step = "none", .observe = "none"},
         "the environment needs 'struct State'"},
        {"no Action",
         {.action = "none", .step = "none"},
         "the environment needs 'struct Action', for example { nacelle::Discrete<2> push; }"},
        {"no Obs",
         {.obs = "none", .observe = "none"},
         "the environment needs 'struct Obs', the numbers that the policy sees"},
        {"nothing at all",
         {.params = "none",
          .state = "none",
          .action = "none",
          .obs = "none",
          .reset = "none",
          .step = "none",
          .observe = "none"},
         "the environment needs 'struct State'"},
        {"empty Action",
         {.action = ""},
         "the environment needs 'struct Action', for example { nacelle::Discrete<2> push; }"},
        {"empty Obs",
         {.obs = ""},
         "the environment needs 'struct Obs', the numbers that the policy sees"},
        {"an enum as State",
         {.state = "none",
          .reset =
              "enum State { idle }; static void reset(State&, const Params&, nacelle::Rng&) {}"},
         "State must be a plain struct"},
        {"a Discrete as Action",
         {.action = "none",
          .reset = "using Action = nacelle::Discrete<4>; static void reset(State&, const Params&, "
                   "nacelle::Rng&) {}"},
         "Action must be a plain struct"},
    });
}
