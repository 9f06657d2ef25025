#pragma once
#include <nacelle/plugin/guard.h>
#include <nacelle/plugin/host.h>
#include <nacelle/plugin/manifest.h>
#include <string>
#include <string_view>
#include <vector>

namespace nacelle::plugin {

// What a learner tells of its last iteration, in this order.
class Metrics final {
public:
    void add(std::string name, double value) {
        names_.push_back(std::move(name));
        values_.push_back(value);
    }
    const std::vector<std::string>& names() const { return names_; }
    const std::vector<double>& values() const { return values_; }

private:
    std::vector<std::string> names_;
    std::vector<double> values_;
};

// Turns an environment's rollouts into a policy. All but steps_per_iteration() may throw.
template <class T>
concept LearnerClass = std::constructible_from<T, Host, std::string_view> &&
    requires(T learner, void* stream, bool greedy, Metrics& metrics) {
    { T::name } -> std::convertible_to<std::string_view>;
    { learner.steps_per_iteration() }
    noexcept->std::convertible_to<uint64_t>;
    learner.record(stream);
    learner.act(greedy, stream);
    learner.metrics(metrics);
};

// The offer of a class like
//
//     struct Search {
//         static constexpr const char* name = "search";
//         Search(nacelle::plugin::Host host, std::string_view config);    // a JSON object
//         uint64_t steps_per_iteration() const noexcept;
//         void record(void* stream);         // under capture: neither allocates nor waits
//         void act(bool greedy, void* stream);
//         void metrics(nacelle::plugin::Metrics& out);
//         const std::string& settings() const;    // may be left out: all settings, as a JSON object
//         // May be left out, both: evaluations that take many steps in one launch.
//         bool plays() const;
//         void play(bool greedy, uint32_t steps, const nacelle_first_episodes& first, void* stream);
//     };
template <LearnerClass T> class Learner final {
public:
    static constexpr const char* kind = "learner/1";
    static constexpr const char* name = T::name;
    static const void* table() { return &functions; }

private:
    struct Held {
        Held(const nacelle_host* its_host, const char* config)
            : host(its_host), object(Host(its_host), std::string_view(config)) {}
        const nacelle_host* host;
        T object;
        Metrics metrics;
        std::vector<const char*> names;
    };
    static Held& held(void* self) { return *static_cast<Held*>(self); }

    static void* create(const nacelle_host* host, const char* config) {
        return made<Held>(host, config);
    }
    static uint64_t steps_per_iteration(void* self) {
        return held(self).object.steps_per_iteration();
    }
    static nacelle_status record(void* self, void* stream) {
        return guarded(held(self).host, [&] { held(self).object.record(stream); });
    }
    static nacelle_status act(void* self, uint32_t greedy, void* stream) {
        return guarded(held(self).host, [&] { held(self).object.act(greedy != 0, stream); });
    }
    static nacelle_status metrics(void* self, const char* const** names, const double** values,
                                  uint32_t* count) {
        return guarded(held(self).host, [&] {
            Metrics fresh;
            held(self).object.metrics(fresh);
            held(self).metrics = std::move(fresh);
            held(self).names.clear();
            for (const std::string& text : held(self).metrics.names())
                held(self).names.push_back(text.c_str());
            *names = held(self).names.data();
            *values = held(self).metrics.values().data();
            *count = static_cast<uint32_t>(held(self).names.size());
        });
    }
    static void destroy(void* self) { delete static_cast<Held*>(self); }
    static const char* settings(void* self) {
        if constexpr (requires(const T& learner) { learner.settings().c_str(); })
            return held(self).object.settings().c_str();
        else return nullptr;
    }
    static constexpr bool can_play = requires(T learner, const nacelle_first_episodes& first) {
        { learner.plays() } -> std::convertible_to<bool>;
        learner.play(true, uint32_t(1), first, nullptr);
    };
    static uint32_t plays(void* self) {
        if constexpr (can_play) return held(self).object.plays();
        else return 0;
    }
    static nacelle_status play(void* self, uint32_t greedy, uint32_t steps,
                               const nacelle_first_episodes* first, void* stream) {
        return guarded(held(self).host, [&] {
            if constexpr (can_play) held(self).object.play(greedy != 0, steps, *first, stream);
        });
    }

    // Hidden, so that no two libraries share one.
    [[gnu::visibility("hidden")]] static constexpr nacelle_learner functions{
        sizeof(nacelle_learner),
        create,
        steps_per_iteration,
        record,
        act,
        metrics,
        destroy,
        settings,
        plays,
        play};
};

}
