#include "tests/contract/contract.h"
#include "tests/env/workbench.h"
#include "tests/support/on_gpu.h"
#include "tests/support/sanitized.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>
#include <optional>

// Every file of env_sources is held to the contract; a new one is here by being there.
using namespace nacelle;
using namespace nacelle::test;

TEST_CASE("every environment keeps the contract") {
    auto names = all_environments();
#ifdef NACELLE_SANITIZE
    names = {"cartpole", "tag_gridworld"};
    leave_out("the plain build has all, this one an environment of one agent and a team");
#endif
    for (const std::string& name : names) {
        std::optional<CompiledBy> flags;
        if (name == "tag_gridworld") flags.emplace("");    // as users compile
        const Report report = check(env_folder / (name + ".cu"));
        CAPTURE(name);
        CHECK_MESSAGE(report.passes, report.refusals());
        // Nothing came to its end before the last check.
        CHECK(report.find("CPU ~ GPU") != nullptr);
    }
}

TEST_CASE("environments of one agent and of a team that show images alone keep the contract") {
    for (const char* const name : {"picture", "lookouts"}) {
        const Report report =
            check(source_path("tests/algorithms/environments/" + std::string(name) + ".cu"), {}, 60,
                  {"reset writes", "observe writes", "checked build", "snapshots"});
        CAPTURE(name);
        CHECK_MESSAGE(report.passes, report.refusals());
        CHECK(report.find("observe writes") != nullptr);
    }
}

TEST_CASE("an environment with a drawn parameter keeps the contract of snapshots") {
    const Report report =
        check(env_folder / "cartpole.cu", {"env.params.gravity={\"uniform\":[8,12]}"}, 60,
              {"snapshots", "parameters"});
    CHECK_MESSAGE(report.passes, report.refusals());
    CHECK(report.find("snapshots") != nullptr);
}

TEST_CASE("a CPU and a GPU agree in every environment" * test::on_gpu()) {
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
