// A learner of movers, one or a team, that learns nothing: it plays at random, and then stands still.
#include <nacelle/plugin/config.h>
#include <nacelle/plugin/learner.h>

namespace {

namespace plugin = nacelle::plugin;

struct PlayArgs {
    uint32_t steps;
};
const std::string program_text = R"(
#include <nacelle/sample.h>
struct PlayArgs { uint32_t steps; };
using namespace nacelle;
template <class E>
NACELLE_INLINE void play_body(const View<E>& view, const PlayArgs& args, Items items) {
    RandomPolicy<E> policy;
    rollout<E>(view, items, 0, int(args.steps), policy, [](const Now&, const auto&, const Outcome&) {});
}
NACELLE_PROGRAM()
NACELLE_ENV_KERNEL(noise_play, PlayArgs, play_body)
)";

class Noise final {
public:
    static constexpr const char* name = "noise";
    static constexpr uint32_t steps = 120;

    Noise(plugin::Host host, std::string_view text)
        : host_(host), environment_(host.environment()) {
        plugin::Config config(text);
        config.text("name", "");
        config.finish();
        play_ = host.kernel(host.program(program_text), "noise_play");
    }
    uint64_t steps_per_iteration() const noexcept { return uint64_t(environment_.envs) * steps; }
    void record(void* stream) {
        host_.launch(play_, environment_.envs, environment_.schema->block_threads, PlayArgs{steps},
                     stream);
        host_.advance(steps, stream);
    }
    // Everybody stands still.
    void act(bool, void*) {
        const nacelle_array move = host_.array("action.move");
        const std::vector<int32_t> nothing(size_t(move.shape[0]));
        host_.write(move.data, nothing.data(), nothing.size() * sizeof(int32_t));
    }
    void metrics(plugin::Metrics&) {}

private:
    plugin::Host host_;
    nacelle_environment environment_;
    nacelle_kernel play_{};
};

}

NACELLE_PLUGIN("test.noise", "1", "Plays at random", nacelle::plugin::Learner<Noise>)
