#include "python/binding/batch.h"

#include "engine/env/find_environment.h"
#include "engine/env/observe_again.h"
#include "engine/internals.h"
#include "tools/play_raster.h"

#include <deque>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nacelle::python {
namespace {

using namespace nb::literals;
using enum Call::Length;

const char* name_of(Role role) {
    switch (role) {
        case Role::param: return "param";
        case Role::state: return "state";
        case Role::agent: return "agent";
        case Role::action: return "action";
        case Role::obs: return "obs";
        case Role::final_obs: return "final_obs";
        case Role::mask: return "mask";
        case Role::reward: return "reward";
        case Role::turn: return "turn";
        case Role::ended: return "ended";
        case Role::terminated: return "terminated";
        case Role::truncated: return "truncated";
        case Role::log: return "log";
        case Role::global: return "global";
        case Role::episode: return "episode";
        default: return "other";
    }
}

Json field_json(const Field& field) {
    Json dims = Json::array();
    for (uint32_t i = 0; i < field.rank; ++i) dims.push_back(field.dims[i]);
    return {{"name", field.name},
            {"role", name_of(field.role)},
            {"dtype", dtype_name(field.dtype)},
            {"group", field.group},
            {"dims", dims},
            {"count", field.count},
            {"choices", field.kind == Kind::discrete ? field.choices : 0},
            {"low", field.low},
            {"high", field.high}};
}

}

Batch::Batch(std::shared_ptr<EngineUse> use, Env env)
    : use_(std::move(use)),
      env_(std::move(env)),
      environment_(Internals::environment(env_)),
      policies_(policy_agents(environment())),
      ours_(stranger_among(environment().code().files).reason.empty()) {}

Batch::~Batch() {
    if (!use_->is_forked()) return;
    // The child has neither the threads nor the GPU that would end with it.
    new auto(std::move(environment_));
    new auto(env_);
    new auto(std::move(actions_));
    new auto(std::move(given_));
    drawing_.release();
    reloader_.release();
}

std::vector<Actions>& Batch::actions(size_t given) {
    if (given != policies_.size())
        throw std::invalid_argument(env_.name() + " takes actions of " +
                                    std::to_string(policies_.size()) + " policies, not " +
                                    std::to_string(given));
    if (actions_.empty()) {
        std::vector<Actions> all;    // one of them may throw
        for (const PolicyAgents& policy : policies_) all.emplace_back(environment(), policy);
        actions_ = std::move(all);
    }
    return actions_;
}

std::string Batch::describe() {
    const Call call(*use_);
    const EnvSchema& schema = environment().schema();
    const Header& header = schema.header();
    Json fields = Json::array();
    for (const Field& field : schema.fields()) fields.push_back(field_json(field));
    Json policies = Json::array();
    for (const PolicyAgents& policy : policies_)
        policies.push_back({{"name", policy.name},
                            {"group", policy.group},
                            {"of", policy.of},
                            {"ids", policy.ids}});
    return json_text({{"name", env_.name()},
                      {"source", environment().settings().source.string()},
                      {"count", env_.count()},
                      {"is_team", header.is_team != 0},
                      {"has_draw", header.has_draw != 0},
                      {"time_limit", header.time_limit},
                      {"policies", policies},
                      {"fields", fields}});
}

std::shared_ptr<DeviceArray> Batch::array(const std::string& name) {
    const Call call(*use_);
    const NamedArray& array = environment().arrays()[name];
    return std::make_shared<DeviceArray>(use_, environment().code().on, array.memory(),
                                         array.name(), array.dtype(), array.shape());
}

void Batch::reset(std::optional<uint64_t> seed) {
    const Call call(*use_, lengthy);
    if (seed) {
        environment().set_seed(*seed);
        environment().set_tick(0);
    }
    env_.reset();
    env_.check();
}
void Batch::reset_some(const std::vector<uint32_t>& chosen) {
    const Call call(*use_, lengthy);
    env_.reset(chosen);
}

void Batch::take_from_host(const std::deque<BufferView>& given) {
    std::vector<Actions>& actions = this->actions(given.size());
    given_.resize(given.size());
    for (size_t p = 0; p < given.size(); ++p) {
        const BufferView& view = given[p];
        Actions::Given taken{.type = view.type(), .source = view.data(), .numbers = view.numbers()};
        if (!on().cuda()) {
            actions[p].take(taken);
            continue;
        }
        if (given_[p].bytes() < view.bytes()) given_[p] = Buffer(on().device, view.bytes());
        on().stream->to_device(given_[p].data(), view.data(), view.bytes());
        taken.source = given_[p].data();
        actions[p].take_on_device(taken);
    }
    for (Actions& each : actions) each.require_good();    // before anything has moved
}

std::shared_ptr<StepOutputs> Batch::outputs(const std::vector<std::string>& names, size_t late) {
    const Call call(*use_, lengthy);
    return std::make_shared<StepOutputs>(use_, environment(), names, late);
}

bool Batch::step_from(const std::vector<nb::object>& given, StepOutputs& outputs,
                      const OwnArrays* own, bool written) {
    const StepOutputs::Targets targets =
        own ? StepOutputs::Targets(own->places()) : StepOutputs::Targets();
    outputs.require_targets(targets.size());
    for (size_t i = 0; i < targets.size(); ++i)
        if (own->bytes(i) != outputs.arrays()[i]->bytes())
            throw nb::value_error(
                (outputs.arrays()[i]->name() + ": the target has another size").c_str());
    std::deque<BufferView> views;
    for (const nb::object& actions : given) views.emplace_back(actions);
    const Call call(*use_, lengthy);
    take_from_host(views);
    return outputs.step(environment(), targets, written);
}

void Batch::observe_again() {
    const Call call(*use_, lengthy);
    nacelle::observe_again(environment());
}

void Batch::step() {
    const Call call(*use_, on().cuda() ? brief : lengthy);
    env_.step();
}

nb::object Batch::step_at(const std::vector<GivenAt>& given, int64_t stream, StepOutputs& outputs,
                          const std::vector<uintptr_t>& targets) {
    outputs.require_targets(targets.size());
    const bool waits = !on().cuda();
    const StepOutputs::Targets places{reinterpret_cast<void* const*>(targets.data()),
                                      targets.size()};
    bool ended = false;
    {
        const Call call(*use_, waits ? lengthy : brief);
        std::vector<Actions>& actions = this->actions(given.size());
        if (!waits) wait_for(stream);
        for (size_t p = 0; p < given.size(); ++p) {
            const auto [address, type, numbers] = given[p];
            const Actions::Given taken{.type = TakenType(type),
                                       .source = reinterpret_cast<const void*>(address),
                                       .numbers = numbers};
            if (waits) actions[p].take(taken);
            else actions[p].take_on_device(taken);
        }
        if (waits) ended = outputs.step(environment(), places, false);
        else {
            env_.step();
            outputs.hand_out_on_device(places);
            make_wait(stream);
        }
    }
    return waits ? nb::cast(ended) : nb::none();
}

void Batch::check() {
    const Call call(*use_, lengthy);
    for (Actions& each : actions_) each.require_good();
    env_.check();
}

void Batch::set_param(const std::string& name, const std::string& value) {
    const Call call(*use_);
    env_.set_param(name, parse_json(value, name));
}
std::string Batch::param(const std::string& name) {
    const Call call(*use_);
    return json_text(env_.param(name));
}

void Batch::save_snapshots(const std::vector<uint32_t>& chosen) {
    const Call call(*use_, lengthy);
    env_.save_snapshots(chosen);
}
void Batch::restore_snapshots(const std::vector<uint32_t>& chosen,
                              const std::vector<uint32_t>& places) {
    const Call call(*use_, lengthy);
    env_.restore_snapshots(chosen, places);
}
void Batch::set_snapshot_chance(double chance) {
    const Call call(*use_, lengthy);
    env_.set_snapshot_chance(chance);
}

nb::object Batch::picture(uint32_t which, int pixels) {
    tools::Pixels picture;
    {
        const Call call(*use_, lengthy);
        if (which >= env_.count())
            throw std::invalid_argument("there are environments 0 to " +
                                        std::to_string(env_.count() - 1));
        if (!drawing_) drawing_ = std::make_unique<Drawing>(environment());
        picture = tools::rasterised(drawing_->draw(which), pixels);
    }
    return nb::make_tuple(
        picture.wide, picture.high,
        nb::bytes(reinterpret_cast<const char*>(picture.rgb.data()), picture.rgb.size()));
}

void bind_batch(nb::module_& module) {
    nb::class_<Batch>(module, "Batch", "Many copies of one environment side by side.")
        .def("describe", &Batch::describe)
        .def("array", &Batch::array, "name"_a)
        .def("names", &Batch::names)
        .def("reset", &Batch::reset, "seed"_a = nb::none())
        .def("reset_some", &Batch::reset_some, "chosen"_a)
        .def("wait_for", &Batch::wait_for, "stream"_a)
        .def("make_wait", &Batch::make_wait, "stream"_a)
        .def("step", &Batch::step)
        .def("outputs", &Batch::outputs, "names"_a, "late"_a)
        .def("step_from", &Batch::step_from, "actions"_a, "outputs"_a, "own"_a = nb::none(),
             "written"_a = false)
        .def("step_at", &Batch::step_at, "actions"_a, "stream"_a, "outputs"_a, "targets"_a)
        .def("observe_again", &Batch::observe_again)
        .def("check", &Batch::check)
        .def("set_param", &Batch::set_param, "name"_a, "value"_a)
        .def("param", &Batch::param, "name"_a)
        .def("reload", &Batch::reload)
        .def("watch", &Batch::watch)
        .def("has_save", &Batch::has_save)
        .def("take_save", &Batch::take_save)
        .def("save_snapshots", &Batch::save_snapshots, "chosen"_a)
        .def("restore_snapshots", &Batch::restore_snapshots, "chosen"_a, "places"_a)
        .def("set_snapshot_chance", &Batch::set_snapshot_chance, "chance"_a)
        .def("picture", &Batch::picture, "which"_a = 0, "pixels"_a = 480);
}

}
