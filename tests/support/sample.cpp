// A program with one test case of each outcome, whose summary is itself tested.
#include "tests/support/on_gpu.h"
#include "tests/support/sanitized.h"
#include "tests/support/skip.h"
#include <doctest/doctest.h>
#include <stdexcept>

TEST_CASE("passes") { CHECK(1 + 1 == 2); }

TEST_CASE("fails") { CHECK(1 + 1 == 3); }

TEST_CASE("throws") { throw std::runtime_error("thrown"); }

TEST_CASE("skips") { NACELLE_SKIP("no such device"); }

TEST_CASE("skips in one part") {
    SUBCASE("first") { NACELLE_SKIP("first part"); }
    SUBCASE("second") { CHECK(true); }
}

TEST_CASE("leaves out a part") { nacelle::test::leave_out("the other half"); }

TEST_CASE("takes long" * nacelle::test::thorough()) { CHECK(true); }

TEST_CASE("takes longest" * nacelle::test::by_name()) { CHECK(true); }

TEST_CASE("wants a GPU" * nacelle::test::on_gpu()) { NACELLE_SKIP("no GPU: no driver"); }

TEST_CASE("hides that it wants a GPU") { NACELLE_SKIP("no GPU: no driver"); }

TEST_CASE("fails and skips") {
    CHECK(false);
    NACELLE_SKIP("too late");
}
