#include "engine/view/array_picture.h"
#include "engine/view/drawing.h"
#include "tests/env/authors.h"
#include "tests/env/workbench.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

size_t count(const DisplayList& list, Canvas::Form form) {
    size_t n = 0;
    for (const Shape& shape : list.shapes) n += shape.form == form;
    return n;
}
bool says(const DisplayList& list, const std::string& words) {
    for (const Shape& shape : list.shapes)
        if (list.text_of(shape) == words) return true;
    return false;
}

}

TEST_CASE("an environment without draw() is shown by its arrays") {
    const Folder folder;
    const auto file = folder.write("signals.cu", signals);
    Environment env(cpu(), settings_of({{"source", file.string()}, {"count", 3}}));
    Drawing drawing(env);
    CHECK(!drawing.by_author());
    write_numbers(env, "state.value", {1, -2.5, 3});
    const DisplayList list = drawing.draw(1);
    for (const char* const name : {"state.value", "state.steps", "action.flags", "action.reward",
                                   "obs[0]", "obs[1]", "reward"})
        CHECK_MESSAGE(says(list, name), name);
    CHECK(says(list, "-2.5"));
    CHECK(count(list, Canvas::Form::box) == 7);    // a bar for each number
    write_numbers(env, "state.value", {1, NAN, 3});
    CHECK(drawing.draw(1).dropped == 2);    // the bar and the number
}

TEST_CASE("an observation with the shape of an image is shown as an image") {
    const Folder folder;
    const auto file = folder.write("eye.cu", R"(#include <nacelle/env.h>
struct Eye {
    static constexpr int time_limit = 9;
    struct Params {};
    struct State { float x; };
    struct Action { nacelle::Discrete<2> go; };
    struct Obs { nacelle::Array<uint8_t, 4, 5, 3> image; float x; };
    static void reset(State& s, const Params&, nacelle::Rng&) { s.x = 0; }
    static nacelle::Outcome step(State&, const Action&, const Params&, nacelle::Rng&) { return {}; }
    static void observe(const State& s, const Params&, Obs& o) {
        o.image.fill([](int row, int column, int channel) -> uint8_t { return row == 3 && column == 4 && channel == 1 ? 200 : 0; });
        o.x = s.x;
    }
};
NACELLE_ENV(Eye)
)");
    Environment env(cpu(), settings_of({{"source", file.string()}, {"count", 2}}));
    const DisplayList list = Drawing(env).draw(1);
    CHECK(says(list, "obs.image"));
    size_t bright = 0, cells = 0;
    for (const Shape& shape : list.shapes) {
        if (shape.form != Canvas::Form::box) continue;
        const Colour c = shape.colour;
        cells += c.red == 0 && c.blue == 0;
        bright += c.red == 0 && c.green == 255 && c.blue == 0;
    }
    CHECK(cells == 20);
    CHECK(bright == 1);
}

TEST_CASE("a picture of large arrays stays a picture") {
    Environment env(cpu(), recommended("pursuit_swarm", 1));
    const DisplayList list = picture_of_arrays(copy_arrays(env, 0));
    CHECK(list.shapes.size() > 100);
    CHECK(list.shapes.size() < 10000);
    CHECK(list.bottom - list.top < 100);
    bool more = false;
    for (const Shape& shape : list.shapes)
        more |= list.text_of(shape).starts_with("and ") &&
                list.text_of(shape).ends_with(" more numbers");
    CHECK(more);
}
