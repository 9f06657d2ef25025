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

// Whether act() can be asked for the first environments alone.
template <class T>
concept ActsForSome = requires(T learner, void* stream) {
    learner.act(true, uint32_t(1), stream);
};

// Whether act() can also take steps.
template <class T>
concept TakesSteps = requires(T learner, const nacelle_first_episodes* first, void* stream) {
    { learner.most_steps() } -> std::convertible_to<uint32_t>;
    learner.act(true, uint32_t(1), first, stream);
};

// Turns an environment's rollouts into a policy. All but steps_per_iteration() may throw.
template <class T>
concept LearnerClass = std::constructible_from<T, Host, std::string_view> &&
    requires(T learner, void* stream, Metrics& metrics) {
    { T::name } -> std::convertible_to<std::string_view>;
    { learner.steps_per_iteration() }
    noexcept->std::convertible_to<uint64_t>;
    learner.record(stream);
    learner.metrics(metrics);
} &&(TakesSteps<T> || ActsForSome<T> ||
     requires(T learner, bool greedy, void* stream) { learner.act(greedy, stream); });

// The offer of a class like
//
//     struct Search {
//         static constexpr const char* name = "search";
//         Search(nacelle::plugin::Host host, std::string_view config);    // a JSON object
//         uint64_t steps_per_iteration() const noexcept;
//         void record(void* stream);         // under capture: neither allocates nor waits
//         void act(bool greedy, void* stream);
//         void metrics(nacelle::plugin::Metrics& out);
//         // What may be left out. All settings, as a JSON object.
//         const std::string& settings() const;
//         // How each policy acts, as docs/policies.md has it, so that checkpoints can be used without the learner;
//         // empty where it cannot be told in that form.
//         const std::string& policies() const;
//         // record() is called for each iteration, under no capture.
//         static constexpr bool captures_itself = true;
//         // In the place of the act() above: at least the first `envs` environments' rows, all that an evaluation plays. More
//         // than there are means all.
//         void act(bool greedy, uint32_t envs, void* stream);
//         // Evaluations that take many steps in one launch: act() as abi.h has it, beside the one above or in its place.
//         uint32_t most_steps() const;
//         void act(bool greedy, uint32_t steps, const nacelle_first_episodes* first, void* stream);
//     };
template <LearnerClass T> class Learner final {
public:
    static constexpr const char* kind = "learner/1";
    static constexpr const char* name = T::name;
    static const void* table() { return &functions; }

private:
    struct Held {
        Held(const nacelle_host* its_host, const char* config)
            : host(its_host), object(Host(its_host), std::string_view(config)) {
            facts.size = sizeof facts;
            facts.steps_per_iteration = object.steps_per_iteration();
            if constexpr (requires { T::captures_itself; })
                facts.captures_itself = T::captures_itself;
            if constexpr (TakesSteps<T>) facts.most_steps = object.most_steps();
            facts.acts_for_some = ActsForSome<T>;
            if constexpr (requires(const T& learner) { learner.settings().c_str(); })
                facts.settings = object.settings().c_str();
            if constexpr (requires(const T& learner) { learner.policies().c_str(); })
                if (!object.policies().empty()) facts.policies = object.policies().c_str();
        }
        const nacelle_host* host;
        T object;
        nacelle_learner_facts facts{};
        Metrics metrics;
        std::vector<const char*> names;
    };
    static Held& held(void* self) { return *static_cast<Held*>(self); }

    static void* create(const nacelle_host* host, const char* config) {
        return made<Held>(host, config);
    }
    static const nacelle_learner_facts* facts(void* self) { return &held(self).facts; }
    static nacelle_status record(void* self, void* stream) {
        return guarded(held(self).host, [&] { held(self).object.record(stream); });
    }
    static nacelle_status act(void* self, uint32_t greedy, [[maybe_unused]] uint32_t steps,
                              [[maybe_unused]] const nacelle_first_episodes* first, void* stream) {
        return guarded(held(self).host, [&] {
            T& learner = held(self).object;
            if constexpr (TakesSteps<T>)
                if (steps > 0 || !ActsForSome<T>)
                    return learner.act(greedy != 0, steps, first, stream);
            if constexpr (ActsForSome<T>)
                learner.act(greedy != 0, first ? first->envs : ~uint32_t(0), stream);
            else if constexpr (!TakesSteps<T>) learner.act(greedy != 0, stream);
        });
    }
    static void destroy(void* self) { delete static_cast<Held*>(self); }
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

    // Hidden, so that no two libraries share one.
    [[gnu::visibility("hidden")]] static constexpr nacelle_learner functions{
        sizeof(nacelle_learner), create, facts, record, act, destroy, metrics};
};

}
