#include "tests/contract/contract.h"
#include "tests/env/workbench.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>

// Every file of env_sources is held to the contract; a new one is here by being there.
using namespace nacelle;
using namespace nacelle::test;

TEST_CASE("every environment keeps the contract") {
#ifdef NACELLE_SANITIZE
    // One of each kind, since compiling them takes minutes; the plain build has them all.
    const std::vector<std::string> names = {"cartpole", "mazes", "connect_four", "tag_gridworld"};
#else
    const std::vector<std::string> names = all_environments();
#endif
    for (const std::string& name : names) {
        const Report report = check(env_folder / (name + ".cu"));
        CAPTURE(name);
        CHECK_MESSAGE(report.passes, report.refusals());
        // Nothing came to its end before the last check.
        CHECK(report.find("CPU ~ GPU") != nullptr);
    }
}

TEST_CASE("a CPU and a GPU agree in every environment") {
    try {
        open("cuda");
    } catch (const Error& error) {
        NACELLE_SKIP(error.what());
    }
    for (const std::string& name : all_environments()) {
        const Report report = check(env_folder / (name + ".cu"));
        CAPTURE(name);
        for (const char* const one : {"CPU = GPU", "CPU ~ GPU"}) {
            const Finding* const finding = report.find(one);
            REQUIRE(finding);
            CHECK_MESSAGE(finding->verdict == Verdict::ok, finding->what);
        }
    }
}
