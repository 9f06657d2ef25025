// A learner that counts its launches in an array of its own, and asks for what "ask" names in the
// call that "in" names.
#include <functional>
#include <map>
#include <nacelle/plugin/config.h>
#include <nacelle/plugin/learner.h>
#include <thread>

namespace {

namespace plugin = nacelle::plugin;

struct CountArgs {
    uint32_t* counts;
    uint32_t by;
};
struct PushArgs {
    int32_t* push;
    int32_t value;
};

const std::string program_text = R"(
#include <nacelle/kernel.h>
#include <probe/args.h>
using namespace nacelle;
template <class E>
NACELLE_INLINE void count_body(const View<E>& view, const CountArgs& args, Items items) {
    const uint64_t end = min(items.end, uint64_t(view.head.envs));
    for (uint64_t i = items.begin; i < end; ++i) args.counts[i] += args.by * FACTOR;
}
template <class E>
NACELLE_INLINE void push_body(const View<E>& view, const PushArgs& args, Items items) {
    const uint64_t end = min(items.end, uint64_t(view.head.envs));
    for (uint64_t i = items.begin; i < end; ++i) args.push[i] = args.value;
}
NACELLE_PROGRAM()
NACELLE_KERNEL(probe_count, CountArgs, 128, count_body)
NACELLE_KERNEL(probe_push, PushArgs, 128, push_body)
)";
const std::string drafted_text = program_text + R"(
#if !defined(NACELLE_DRAFT)
NACELLE_KERNEL(probe_in_full, CountArgs, 128, count_body)
#endif
)";
const nacelle_header args_header{sizeof(nacelle_header), "probe/args.h",
                                 "struct CountArgs { uint32_t* counts; uint32_t by; };\n"
                                 "struct PushArgs { int32_t* push; int32_t value; };\n"};

class Probe final {
public:
    static constexpr const char* name = "probe";

    Probe(plugin::Host host, std::string_view text)
        : host_(host), environment_(host.environment()) {
        plugin::Config config(text);
        config.text("name", "");
        ask_ = config.text("ask", "");
        in_ = config.text("in", "");
        config.finish();
        const std::string factor[] = {"FACTOR=3"};
        const uint32_t program =
            host.program_of_sizes(program_text, std::span(&args_header, 1), factor);
        count_ = host.kernel(program, "probe_count");
        push_ = host.kernel(program, "probe_push");
        const int64_t shape[] = {environment_.envs};
        counts_ = host.array_create("counts", NACELLE_U32, shape, true);
        if (ask_ == "left out")
            in_full_ = host.kernel(host.program(drafted_text, std::span(&args_header, 1), factor),
                                   "probe_in_full");
        ask("create", nullptr);
    }

    uint64_t steps_per_iteration() const noexcept { return uint64_t(environment_.envs) * 2; }

    void record(void* stream) {
        ask("record", stream);
        count(1, stream);
        host_.advance(5, stream);
        count(10, stream);
        host_.restart(stream);
    }

    void act(bool greedy, void* stream) {
        ask("act", stream);
        const nacelle_array push = host_.array("action.push");
        host_.launch(push_, environment_.envs, 128,
                     PushArgs{static_cast<int32_t*>(push.data), greedy ? 1 : 0}, stream);
    }

    void metrics(plugin::Metrics& out) {
        ask("metrics", nullptr);
        std::vector<uint32_t> counts(environment_.envs);
        host_.read(counts.data(), counts_.data, counts.size() * sizeof(uint32_t));
        out.add("first", counts.front());
        out.add("last", counts.back());
    }

private:
    void count(uint32_t by, void* stream) const {
        host_.launch(count_, environment_.envs, 128,
                     CountArgs{static_cast<uint32_t*>(counts_.data), by}, stream);
    }

    void ask(const std::string& here, void* stream) {
        if (here != in_) return;
        const int64_t shape[] = {4}, wrong[] = {4, 0};
        uint32_t number = 0;
        nacelle_kernel stranger = count_;
        stranger.function = 99;
        const uint32_t f32 = NACELLE_F32;
        const std::map<std::string, std::function<void()>> requests = {
            {"program", [&] { host_.program("#include <nacelle/kernel.h>\nNACELLE_PROGRAM()\n"); }},
            {"broken program",
             [&] {
                 host_.program(
                     "#include <nacelle/kernel.h>\nNACELLE_PROGRAM()\nint broken = nowhere;\n");
             }},
            {"array_create", [&] { host_.array_create("more", f32, shape, false); }},
            {"the same array", [&] { host_.array_create("counts", f32, shape, false); }},
            {"a wrong size", [&] { host_.array_create("more", f32, wrong, false); }},
            {"a wrong type", [&] { host_.array_create("more", 40, shape, false); }},
            {"read", [&] { host_.read(&number, counts_.data, sizeof number); }},
            {"write", [&] { host_.write(counts_.data, &number, sizeof number); }},
            {"array", [&] { host_.array("action.puhs"); }},
            {"kernel", [&] { host_.kernel(0, "probe_cuont"); }},
            {"kernel of no program", [&] { host_.kernel(7, "probe_count"); }},
            {"no kernel", [&] { host_.launch(stranger, 1, 128, CountArgs{}, stream); }},
            {"left out", [&] { host_.launch(in_full_, 0, 128, CountArgs{}, stream); }},
            {"environments", [&] { host_.launch_environments(count_, CountArgs{}, stream); }},
            {"another stream", [&] { host_.advance(1, &number); }},
            {"table", [&] { host_.table("gravity", f32, shape, shape); }},
            {"throws after a refusal",
             [&] {
                 try {
                     host_.array("nowhere");
                 } catch (const std::runtime_error&) {
                     throw std::runtime_error("something else");
                 }
             }},
            {"a thread",
             [&] {
                 std::string reason;
                 std::thread([&] {
                     try {
                         host_.advance(1, nullptr);
                     } catch (const std::exception& refused) {
                         reason = refused.what();
                     }
                 }).join();
                 throw std::runtime_error(reason);
             }},
        };
        requests.at(ask_)();
    }

    plugin::Host host_;
    nacelle_environment environment_;
    std::string ask_, in_;
    nacelle_kernel count_{}, push_{}, in_full_{};
    nacelle_array counts_{};
};

}

NACELLE_PLUGIN("test.probe", "1", "Counts", nacelle::plugin::Learner<Probe>)
