// A host application, built against the installed engine with what pkg-config says and nothing else.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nacelle/nacelle.hpp>
#include <stdexcept>
#include <string>
#include <vector>

// Whether fn throws and says `word`.
template <class Fn> bool refused(const char* word, Fn fn) {
    try {
        fn();
    } catch (const std::exception& error) {
        std::printf("refused: %s\n", error.what());
        return std::string(error.what()).find(word) != std::string::npos;
    }
    std::printf("was not refused: %s\n", word);
    return false;
}

int main(int, char** arguments) {
    try {
        nacelle::Engine engine;
        std::printf("runs on %s\n", engine.why().c_str());
        // The engine's own, beside the library.
        const std::vector<std::string> ids = engine.plugins().ids();
        if (std::find(ids.begin(), ids.end(), "nacelle.ppo") == ids.end())
            throw std::runtime_error("the installed plugins are not found");
        engine.plugins().load(arguments[1]);
        nacelle::Env env =
            engine.load(arguments[2], {{"count", 64}, {"params", {{"gravity", 9.0}}}});
        env.reset();
        const auto before = env.arrays()["obs"].host<float>();
        for (int i = 0; i < 10; ++i) env.step();
        const auto after = env.arrays()["obs"].host<float>();
        const auto reward = env.arrays()["reward"].host<float>();
        bool good = before.size() == 64 * 4 && after.size() == before.size() &&
                    reward.size() == 64 && before != after;
        for (const float number : after) good = good && std::isfinite(number);
        for (const float number : reward) good = good && number == 1.0f;
        std::puts(good ? "stepped" : "the arrays are not what steps would leave");
        const std::string source = arguments[2];
        good =
            refused("no_such_environment", [&] { engine.load("no_such_environment.cu"); }) && good;
        good = refused("no_such_hook",
                       [&] {
                           engine.load(source, {}, 1, {{"no_such_hook", {}}});
                       }) &&
               good;
        for (const char* const word : {"env", "seed", "hooks"})
            good = refused(word, [&] { nacelle::Run run(env, {{word, nullptr}}); }) && good;
        // What is trained here acts elsewhere (policy.c).
        engine.plugins().load(arguments[3]);
        nacelle::Env few = engine.load(source, {{"count", 64}});
        nacelle::Run run(
            few,
            {{"learner", {{"name", "random_search"}, {"steps", 20}}},
             {"run", {{"total_steps", 3 * 64 * 20}, {"sinks", nlohmann::json::array()}}}},
            "trained");
        while (run.iterate()) {}
        const nacelle::Policy policy = run.policy(), saved("trained");
        std::vector<float> actions(64), again(64);
        const auto seen = few.arrays()["obs"].host<float>();
        policy.act(seen, actions);
        nacelle::Policy("trained", "", "latest").act(seen, again);
        good = actions == again && saved.inputs() == 4 && good;
        if (engine.backend() == "cuda") nacelle::GpuPolicy{policy}.seed(1);
        else good = refused("cuda", [&] { nacelle::GpuPolicy{policy}; }) && good;
        return good ? 0 : 1;
    } catch (const std::exception& error) {
        std::puts(error.what());
    }
    return 1;
}
