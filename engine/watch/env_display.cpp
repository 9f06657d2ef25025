#include "engine/watch/env_display.h"

#include "engine/base/error.h"
#include "engine/base/seconds_since.h"
#include "engine/recording/format.h"
#include "engine/watch/parameters.h"

#include <algorithm>
#include <cmath>

namespace nacelle {
namespace {

Json arrays_of(const EnvSchema& schema, uint32_t envs) {
    Json list = Json::array();
    for (const Field& field : schema.fields()) {
        if (field.slot < 0 || (field.per != Per::env && field.per != Per::row)) continue;
        list.push_back({{"name", field.name},
                        {"form", form_text(field, schema.rows(field, envs) / envs)},
                        {"first", is_shown_first(field)}});
    }
    return list;
}

std::chrono::steady_clock::duration pause(double seconds) {
    return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
        std::chrono::duration<double>(seconds));
}

}

EnvDisplay::EnvDisplay(std::shared_ptr<Viewer> viewer, DisplayLimits limits)
    : viewer_(std::move(viewer)), limits_(limits), paint_thread_(viewer_) {}

void EnvDisplay::attach(Environment& env, const std::string& policy) {
    env_ = &env;
    drawing_.reset();
    tried_ = false;
    which_ = std::min(which_, env.count() - 1);
    const Header& header = env.schema().header();
    arrays_.agent = std::min<size_t>(arrays_.agent, header.agents - 1);
    std::erase_if(arrays_.names, [&](const std::string& name) { return !env.schema().find(name); });
    viewer_->show("environment", json_text({{"name", env.name()},
                                            {"source", env.settings().source.string()},
                                            {"backend", env.on().cuda() ? "GPU" : "CPU"},
                                            {"why", env.on().why},
                                            {"envs", env.count()},
                                            {"agents", header.agents},
                                            {"draws", header.has_draw != 0},
                                            {"version", env.version()},
                                            {"policy", policy},
                                            {"arrays", arrays_of(env.schema(), env.count())}}));
    show_parameters();
    show_again();
}

void EnvDisplay::detach() {
    env_ = nullptr;
    drawing_.reset();
}

void EnvDisplay::show_parameters() {
    viewer_->show("parameters", json_text(parameters_json(*env_)));
}

bool EnvDisplay::obey(const Json& command) {
    const std::string what = command["do"];
    if (what != "env" && what != "agent" && what != "arrays") return false;
    const Json& value = command.value("value", Json());
    if (what == "arrays") {
        arrays_.names.clear();
        if (value.is_array())
            for (const Json& name : value)
                if (name.is_string()) choose_arrays(name);
    } else if (value.is_number_unsigned()) {
        const auto index = value.get<uint64_t>();
        if (what == "env" && index < env_->count()) which_ = uint32_t(index);
        if (what == "agent" && index < env_->schema().header().agents) arrays_.agent = index;
    }
    show_again();
    return true;
}

// All that a word means, as "state" every array of the state.
void EnvDisplay::choose_arrays(const std::string& word) {
    for (const Field& field : env_->schema().fields())
        if (is_meant(field.name, word)) arrays_.names.insert(field.name);
}

void EnvDisplay::set_param(const Json& command, const SetParam& set) {
    const Json name = command.value("name", Json());
    if (!name.is_string()) return;
    std::string wrong;
    try {
        set(name, command.value("value", Json()));
    } catch (const Error& error) {
        wrong = error.what();
    }
    show_parameters();
    show_again();
    viewer_->show("refused", json_text(wrong));
}

// Where draw() does not compile on the host, the arrays are shown.
void EnvDisplay::make_drawing() {
    tried_ = true;
    note_.clear();
    viewer_->may_take_long();
    try {
        drawing_ = std::make_shared<Drawing>(*env_);
    } catch (const std::exception& wrong) {
        note_ = wrong.what();
    }
}

void EnvDisplay::show_if_wanted(uint64_t step) {
    const Clock::time_point now = Clock::now();
    if (!env_ || now < due_ || !viewer_->wants_picture() || paint_thread_.busy()) return;
    if (!tried_) make_drawing();
    const Clock::time_point start = Clock::now();
    Scene scene = drawing_ ? drawing_->copy(which_) : copy_arrays(*env_, which_);
    const double copied = seconds_since(start);
    std::string more = "\"env\":" + std::to_string(which_) +
                       ",\"agent\":" + std::to_string(arrays_.agent) +
                       ",\"step\":" + std::to_string(step) + ",";
    if (!note_.empty()) more += "\"draw_note\":" + json_word(note_) + ",";
    const double so_far = first_number(scene, "episode.return", arrays_.agent),
                 steps = first_number(scene, "episode.length");
    if (std::isfinite(so_far) && std::isfinite(steps))
        more += "\"episode\":" + json_text(Json{so_far, steps}) + ",";
    due_ = now + pause(std::max({1 / limits_.pictures, copied / limits_.copying,
                                 paint_thread_.seconds() / limits_.painting}));
    paint_thread_.paint({drawing_, std::move(scene), arrays_, std::move(more)});
}

}
