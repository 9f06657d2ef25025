// One sink, hook or learner for each place in which a plugin may throw.
#include <nacelle/plugin/hook.h>
#include <nacelle/plugin/learner.h>
#include <nacelle/plugin/sink.h>

namespace {

namespace plugin = nacelle::plugin;

enum class Place { create, write, flush, record, act, metrics };

void throw_at(Place here, Place wanted) {
    if (here == wanted) throw std::runtime_error("no room for it");
}

template <Place place> struct BadSink {
    static constexpr const char* name = place == Place::create  ? "bad_create"
                                        : place == Place::write ? "bad_write"
                                                                : "bad_flush";
    BadSink(plugin::Host, std::string_view) { throw_at(Place::create, place); }
    void write(uint64_t, std::span<const char* const>, std::span<const double>) {
        throw_at(Place::write, place);
    }
    void flush() { throw_at(Place::flush, place); }
};

struct Strange {
    static constexpr const char* name = "strange";
    Strange(plugin::Host, std::string_view) {}
    void write(uint64_t, std::span<const char* const>, std::span<const double>) { throw 7; }
    void flush() {}
};

struct BadHook {
    static constexpr const char* name = "bad_loaded";
    static void loaded(plugin::Host, std::string_view, std::string_view) {
        throw std::runtime_error("no room for it");
    }
};

template <Place place> struct BadLearner {
    static constexpr const char* name = place == Place::create   ? "bad_create"
                                        : place == Place::record ? "bad_record"
                                        : place == Place::act    ? "bad_act"
                                                                 : "bad_metrics";
    BadLearner(plugin::Host, std::string_view) { throw_at(Place::create, place); }
    uint64_t steps_per_iteration() const noexcept { return 1; }
    void record(void*) { throw_at(Place::record, place); }
    void act(bool, void*) { throw_at(Place::act, place); }
    void metrics(plugin::Metrics&) { throw_at(Place::metrics, place); }
};

}

NACELLE_PLUGIN("test.throws", "1", "", plugin::Sink<BadSink<Place::create>>,
               plugin::Sink<BadSink<Place::write>>, plugin::Sink<BadSink<Place::flush>>,
               plugin::Sink<Strange>, plugin::Hook<BadHook>,
               plugin::Learner<BadLearner<Place::create>>,
               plugin::Learner<BadLearner<Place::record>>, plugin::Learner<BadLearner<Place::act>>,
               plugin::Learner<BadLearner<Place::metrics>>)
