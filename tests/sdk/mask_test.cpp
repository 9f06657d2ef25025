#include <nacelle/env.h>

#include <cstring>
#include <doctest/doctest.h>
#include <vector>

using namespace nacelle;

namespace {

struct Action {
    Discrete<3> go;
    Continuous<> force;
    Discrete<2> cards[3];
    Discrete<4> last;
};

using Allowed = std::vector<int>;
template <class Change> Allowed after(Change change) {
    uint8_t bytes[Mask<Action>::width];
    std::memset(bytes, 7, sizeof bytes);
    Mask<Action> mask(bytes);
    change(mask);
    return Allowed(bytes, bytes + sizeof bytes);
}

}

TEST_CASE("a mask has one entry for each choice and none for a continuous part") {
    CHECK(Mask<Action>::width == 13);
    CHECK(after([](Mask<Action>&) {}) == Allowed(13, 1));
}

TEST_CASE("forbid takes one choice away, of a part or of one of a list") {
    CHECK(after([](Mask<Action>& m) { m.forbid(&Action::go, 2); }) ==
          Allowed{1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
    CHECK(after([](Mask<Action>& m) { m.forbid(&Action::cards, 1, 0); }) ==
          Allowed{1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1});
    CHECK(after([](Mask<Action>& m) { m.forbid(&Action::last, 3); }) ==
          Allowed{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0});
}

TEST_CASE("a choice or a part that is not there leaves the mask as it was") {
    for (const int wrong : {-1, 3, 13, 0x7fffffff, -0x7fffffff - 1}) {
        CAPTURE(wrong);
        CHECK(after([&](Mask<Action>& m) { m.forbid(&Action::go, wrong); }) == Allowed(13, 1));
        CHECK(after([&](Mask<Action>& m) { m.only(&Action::go, wrong); }) == Allowed(13, 1));
        CHECK(after([&](Mask<Action>& m) { m.forbid(&Action::cards, wrong, 1); }) ==
              Allowed(13, 1));
        CHECK(after([&](Mask<Action>& m) { m.only(&Action::cards, wrong, 1); }) == Allowed(13, 1));
        CHECK(after([&](Mask<Action>& m) { m.forbid(&Action::cards, 1, wrong); }) ==
              Allowed(13, 1));
        CHECK(after([&](Mask<Action>& m) { m.only(&Action::cards, 1, wrong); }) == Allowed(13, 1));
    }
}

TEST_CASE("only leaves one choice, and the other parts as they are") {
    CHECK(after([](Mask<Action>& m) { m.only(&Action::go, 1); }) ==
          Allowed{0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
    CHECK(after([](Mask<Action>& m) { m.only(&Action::cards, 2, 1); }) ==
          Allowed{1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1});
    CHECK(after([](Mask<Action>& m) {
              m.forbid(&Action::last, 0);
              m.only(&Action::last, 0);
              m.forbid(&Action::go, 0);
          }) == Allowed{0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0});
}
