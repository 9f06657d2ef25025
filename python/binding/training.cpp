#include "python/binding/training.h"

#include "engine/internals.h"
#include "python/binding/buffer_view.h"
#include "python/binding/open_engine.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nacelle::python {
namespace {

using namespace nb::literals;
using enum Call::Length;
using Path = std::filesystem::path;
using Words = std::vector<std::string>;

// While it is there, the engine asks whether Ctrl-C was pressed.
class Asking final {
public:
    explicit Asking(bool& asks) : asks_(asks) { asks_ = true; }
    ~Asking() { asks_ = false; }
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;

private:
    bool& asks_;
};

// A training run. Ctrl-C ends a call between two iterations.
class Training final {
    template <class Fn> auto watched(Fn&& fn) -> decltype(fn()) {
        const auto result = [&] {
            const Call call(*use_, lengthy);
            const Asking asking(asks_);
            return fn();
        }();
        raise_interruption();
        return result;
    }

public:
    Training(std::shared_ptr<EngineUse> use, Run run) : use_(std::move(use)), run_(std::move(run)) {
        Internals::run(run_).stop_when([this] { return asks_ && interrupted(); });
    }
    ~Training() {
        if (use_->is_forked()) new Run(run_);
    }

    bool iterate() {
        return watched([this] { return run_.iterate(); });
    }
    double evaluate(uint64_t episodes) {
        return watched([&] { return run_.evaluate(episodes); });
    }
    Run& run() { return run_; }
    EngineUse& use() { return *use_; }

private:
    std::shared_ptr<EngineUse> use_;
    Run run_;
    bool asks_ = false;
};

std::shared_ptr<Training> begin(OpenEngine& engine, const std::string& text, const Path& out) {
    std::optional<Run> run;
    {
        const Call call(*engine.use, lengthy);
        Json json = parse_json(text, "train");
        Env env = engine.engine.load(json.at("env").at("source").get<std::string>(), json.at("env"),
                                     json.value("seed", uint64_t(1)),
                                     json.value("hooks", Json::object()));
        for (const char* const key : {"env", "seed", "hooks"}) json.erase(key);
        run.emplace(env, json, out);
    }
    raise_interruption();
    return std::make_shared<Training>(engine.use, std::move(*run));
}

std::shared_ptr<Training> opened(OpenEngine& engine, const std::function<Run()>& open) {
    std::optional<Run> run;
    {
        const Call call(*engine.use, lengthy);
        run.emplace(open());
    }
    raise_interruption();
    return std::make_shared<Training>(engine.use, std::move(*run));
}

template <class T> std::span<T> numbers(const Bytes& bytes) {
    return {static_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

void act(Policy& policy, nb::handle observations, nb::handle actions, nb::handle masks,
         nb::handle memory, bool sample) {
    const Bytes seen(observations, Bytes::Use::read), chosen(actions, Bytes::Use::write);
    std::optional<Bytes> open, kept;
    if (!masks.is_none()) open.emplace(masks, Bytes::Use::read);
    if (!memory.is_none()) kept.emplace(memory, Bytes::Use::write);
    const auto allowed = open ? numbers<const uint8_t>(*open) : std::span<const uint8_t>();
    const auto remembered = kept ? numbers<float>(*kept) : std::span<float>();
    const nb::gil_scoped_release released;
    if (sample)
        policy.sample(numbers<const float>(seen), numbers<float>(chosen), allowed, remembered);
    else policy.act(numbers<const float>(seen), numbers<float>(chosen), allowed, remembered);
}

nb::list parts_of(const Policy& policy) {
    nb::list parts;
    for (const ActionPart& part : policy.actions())
        parts.append(nb::make_tuple(part.name, part.choices, part.low, part.high));
    return parts;
}

}

void bind_training(nb::module_& module) {
    nb::class_<Policy>(module, "Policy", "A trained policy on this machine's CPU.")
        .def(nb::init<const Path&, const std::string&, const std::string&>(), "path"_a,
             "name"_a = "", "checkpoint"_a = "best")
        .def_prop_ro("name", &Policy::name)
        .def_prop_ro("inputs", &Policy::inputs)
        .def_prop_ro("choices", &Policy::choices)
        .def_prop_ro("memory", &Policy::memory)
        .def_prop_ro("steps", &Policy::steps)
        .def_prop_ro("actions", &parts_of)
        .def("seed", &Policy::seed, "seed"_a)
        .def("act_into", &act, "observations"_a, "actions"_a, "masks"_a = nb::none(),
             "memory"_a = nb::none(), "sample"_a = false);
    nb::class_<Training>(module, "Training", "A training run.")
        .def("iterate", &Training::iterate)
        .def("evaluate", &Training::evaluate, "episodes"_a)
        .def_prop_ro("solved", [](Training& self) { return self.run().solved(); })
        .def_prop_ro("steps", [](Training& self) { return self.run().steps(); })
        .def("metrics",
             [](Training& self) {
                 nb::dict metrics;
                 for (const auto& [name, value] : self.run().metrics())
                     metrics[name.c_str()] = value;
                 return metrics;
             })
        .def(
            "policy",
            [](Training& self, const std::string& name) {
                const Call call(self.use());
                return self.run().policy(name);
            },
            "name"_a = "")
        .def("save",
             [](Training& self) {
                 const Call call(self.use(), lengthy);
                 self.run().save();
             })
        .def("stop", [](Training& self) {
            const Call call(self.use(), lengthy);
            self.run().stop();
        });
    module.def("begin_run", &begin, "engine"_a, "configuration"_a, "out"_a);
    module.def(
        "resume_run",
        [](OpenEngine& engine, const Path& folder, const std::string& changes,
           const Words& models) {
            return opened(engine, [&] {
                return Run::resume(engine.engine, folder, parse_json(changes, "resume"), models);
            });
        },
        "engine"_a, "folder"_a, "changes"_a, "models"_a);
    module.def(
        "load_run",
        [](OpenEngine& engine, const Path& folder, const std::string& checkpoint,
           const Words& models) {
            return opened(engine,
                          [&] { return Run::load(engine.engine, folder, checkpoint, models); });
        },
        "engine"_a, "folder"_a, "checkpoint"_a, "models"_a);
}

}
