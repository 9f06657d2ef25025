// A host application, built against the installed engine with what pkg-config says and nothing else.
#include <cmath>
#include <cstdio>
#include <nacelle/nacelle.hpp>

int main(int, char** arguments) {
    try {
        nacelle::Engine engine;
        std::printf("runs on %s\n", engine.why().c_str());
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
        try {
            engine.load("no_such_environment.cu");
        } catch (const std::exception& error) {
            std::printf("refused: %s\n", error.what());
            return good ? 0 : 1;
        }
        std::puts("a missing file was loaded");
    } catch (const std::exception& error) {
        std::puts(error.what());
    }
    return 1;
}
