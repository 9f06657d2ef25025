#include "tests/algorithms/network_cases.h"
#include "tests/algorithms/recomputed.h"
#include "tests/support/skip.h"
#include "tests/support/thorough.h"

#include <random>

using namespace nacelle;
using namespace nacelle::test;

namespace {

// Three rollouts of networks that do not change, where the overview is `shown` so.
struct Watched {
    std::vector<std::vector<double>> played, values;

    Watched(Case c, float shown, uint64_t seed) {
        c.config["learning_rate"] = 0;
        Json env = env_of(c.env, 24);
        env["params"] = {{"shown", shown}};
        Lesson lesson(quick_cpu(), env, c.learner, c.config, seed);
        const std::vector<PolicyForm> policies = policies_of(lesson);
        for (int i = 0; i < 3; ++i) {
            lesson.iterate();
            for (const PolicyForm& policy : policies) {
                const auto kept = [&](const char* name) {
                    return lesson.numbers(policy.group + ".kept." + name);
                };
                for (const char* const name : {"obs", "choice", "log_probability", "reward"})
                    played.push_back(kept(name));
                values.push_back(kept("value"));
            }
        }
    }
};

void unseen_by_policies(const Case& c) {
    std::random_device fresh;
    const uint64_t seed = fresh();
    const float shown = 0.5f + float(fresh() % 1000) / 500;
    CAPTURE(c.env);
    CAPTURE(seed);
    CAPTURE(shown);
    const Watched plain(c, 0, seed), other(c, shown, seed);
    CHECK(plain.played == other.played);
    for (size_t i = 0; i < plain.values.size(); ++i) CHECK(plain.values[i] != other.values[i]);
}

}

TEST_CASE("what only critics see does not reach what policies do") {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("gradients of critics go through the same code: the plain build has it");
#endif
    for (const Case& c : {overseen_cases()[0], overseen_cases()[2]})
        unseen_by_policies(with(c, Json::object(), {{"horizon", 12}}));
}
TEST_CASE("what only critics see does not reach it by a GPU's kernels, on threads" *
          test::thorough()) {
#ifdef NACELLE_SANITIZE
    return;    // a thread of the host for each of a GPU's takes minutes
#endif
    unseen_by_policies(with(overseen(0, "f32", "fused"), Json::object(), on_threads));
}
TEST_CASE("nor by the kernels of wide layers, on threads" * test::by_name()) {
#ifdef NACELLE_SANITIZE
    return;    // a thread of the host for each of a GPU's takes minutes
#endif
    unseen_by_policies(with(overseen(1, "f32", "streamed"), Json::object(), on_threads));
}
