// A learner that the host does not capture: its record() is called for each iteration, and may wait.
#include <nacelle/plugin/learner.h>

namespace {

namespace plugin = nacelle::plugin;

class Alone final {
public:
    static constexpr const char* name = "alone";
    static constexpr bool captures_itself = true;

    Alone(plugin::Host host, std::string_view) : host_(host), envs_(host.environment().envs) {
        const int64_t shape[] = {1};
        calls_ = host.array_create("calls", NACELLE_U32, shape, true);
    }
    uint64_t steps_per_iteration() const noexcept { return envs_; }
    void record(void* stream) {
        const uint32_t calls = read() + 1;
        host_.write(calls_.data, &calls, sizeof calls);
        host_.advance(1, stream);
    }
    void act(bool, void*) {}
    void metrics(plugin::Metrics& out) { out.add("calls", read()); }

private:
    uint32_t read() const {
        uint32_t calls = 0;
        host_.read(&calls, calls_.data, sizeof calls);
        return calls;
    }

    plugin::Host host_;
    uint32_t envs_;
    nacelle_array calls_{};
};

}

NACELLE_PLUGIN("test.alone", "1", "Launches by itself", nacelle::plugin::Learner<Alone>)
