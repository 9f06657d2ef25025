#include "tests/algorithms/lesson.h"
#include "tests/support/skip.h"
#include "tests/support/thorough.h"

#include <map>

// No setting is read and ignored: each number among the resolved settings changes what is learnt.

using namespace nacelle;
using namespace nacelle::test;

namespace {

struct Base {
    const char *env, *learner;
    Json config;
};

std::vector<std::byte> weights_of(const Base& base, const Json& config) {
    constexpr uint64_t iterations = 3;
    Lesson lesson(quick_cpu(), env_of(base.env, 48), base.learner, config, 3,
                  iterations * config.value("horizon", uint64_t(8)));
    lesson.iterate(int(iterations));
    std::vector<std::byte> all;
    for (const NamedArray& one : lesson.env().arrays().all())
        if (one.name().ends_with(".weights")) {
            const auto bytes = bytes_of(one);
            all.insert(all.end(), bytes.begin(), bytes.end());
        }
    REQUIRE(all.size() > 100);
    return all;
}
Json resolved(const Base& base) {
    return Lesson(quick_cpu(), env_of(base.env, 48), base.learner, base.config)
        .learner()
        .settings();
}

// Values to try in place of one; what is out of range is refused, and the next one's turn comes.
std::vector<Json> others(const Json& value) {
    if (value.is_boolean()) return {!value.get<bool>()};
    const double x = value.get<double>();
    std::vector<Json> list;
    if (value.is_number_integer())
        for (const int64_t i : {int64_t(x) / 2, int64_t(x) + 1})
            if (i != int64_t(x)) list.push_back(i);
    for (const double other : {x * 0.5, x * 0.02, x * 1.5 + 0.01, 1e-3})
        if (other != x) list.push_back(other);
    return list;
}
// Whether some other value changes the weights; `tried` counts those that were not refused.
bool matters(const Base& base, const Json& settings, const Json::json_pointer& at,
             const std::vector<std::byte>& usual, int& tried) {
    for (const Json& other : others(settings.at(at))) {
        Json config = settings;
        config[at] = other;
        bool differs = false;
        const std::string refused = complaint([&] { differs = weights_of(base, config) != usual; });
        if (!refused.empty()) continue;
        ++tried;
        if (differs) return true;
    }
    return false;
}

// Policies read their settings alike, whatever learner and group they are of, but for what they set for a learner.
std::string meaning(const Base& base, const std::string& path) {
    const std::string policies = "/policies/";
    if (!path.starts_with(policies)) return base.learner + path;
    const std::string setting = path.substr(path.find('/', policies.size()));
    return setting.starts_with("/learner/") ? path : policies + setting;
}

std::vector<Base> bases() {
    // Steps so large that every bound is met.
    const Json rate = {{"linear", {0.05, 0.02}}};
    const Json gains = {{"choice", 1.0}};
    return {{"mixed",
             "ppo",
             {{"horizon", 8},
              {"epochs", 3},
              {"minibatches", 2},
              {"learning_rate", rate},
              {"weight_decay", 0.1},
              {"policies", {{"default", {{"hidden", {8}}, {"gains", gains}}}}}}},
            {"choices",
             "ppo",
             {{"horizon", 8},
              {"epochs", 3},
              {"minibatches", 2},
              {"learning_rate", rate},
              {"advantage", "vtrace"},
              {"normalise_returns", false},
              {"reward_scale", 2},
              {"reward_bound", 1},
              {"value_clip", 0.2},
              {"policies", {{"default", {{"hidden", {8}}, {"gains", gains}}}}}}},
            {"choices",
             "a2c",
             {{"horizon", 8},
              {"sequence", 4},
              {"minibatches", 2},
              {"learning_rate", rate},
              {"policies", {{"default", {{"hidden", {Json{{"gru", 8}}}}}}}}}},
            {"relay",
             "ppo",
             {{"horizon", 8},
              {"epochs", 2},
              {"minibatches", 2},
              {"learning_rate", {{"exponential", {0.05, 0.01}}}},
              {
                  "entropy",
                  {{"cosine", {0.1, 0.01}}},
              },
              {"policies",
               {{"default", {{"hidden", {8}}}}, {"keeper", {{"learner", {{"gamma", 0.7}}}}}}}}}};
}

}

TEST_CASE("every number and every switch among the settings changes what is learnt" *
          test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP(
        "the plain build does this; instrumented, its many programs take minutes to compile");
#endif
    std::map<std::string, bool> all;
    for (const Base& base : bases()) {
        const Json settings = resolved(base);
        const auto usual = weights_of(base, settings);
        CHECK(usual ==
              weights_of(base, base.config));    // the resolved settings are the given ones
        const Json flat = settings.flatten();
        for (const auto& [path, value] : flat.items()) {
            if (!value.is_number() && !value.is_boolean()) continue;
            const std::string name = meaning(base, path);
            if (path == "/policies/default/train") continue;    // false is refused for the only one
            if (all[name]) continue;
            int tried = 0;
            all[name] = matters(base, settings, Json::json_pointer(path), usual, tried);
            CHECK_MESSAGE(tried > 0, name << " takes no other value");
        }
    }
    CHECK(all.size() > 40);
    for (const auto& one : all) CHECK_MESSAGE(one.second, one.first << " changes nothing");
}
