#include "engine/config/origins.h"

#include <algorithm>

namespace nacelle {
namespace {

// Whether `path` is below `above`: "run.sinks[0].every" below "run" and "run.sinks".
bool is_below(const std::string& path, const std::string& above) {
    return path.size() > above.size() && path.starts_with(above) &&
           (path[above.size()] == '.' || path[above.size()] == '[');
}

// The value at "run.total_steps"; lists are not looked into.
const Json* value_at(const Json& values, const std::string& path) {
    const Json* at = &values;
    for (size_t from = 0; from <= path.size();) {
        const size_t end = std::min(path.find_first_of(".[", from), path.size());
        if (!at->is_object()) return nullptr;
        const auto found = at->find(path.substr(from, end - from));
        if (found == at->end()) return nullptr;
        at = &*found;
        if (end < path.size() && path[end] == '[') return at;
        from = end + 1;
    }
    return at;
}

}

void Origins::add_file(std::string name, Json values) {
    layers_.push_back({.name = std::move(name), .path = {}, .values = std::move(values)});
}

void Origins::add_assignment(const std::string& assignment) {
    layers_.push_back({.name = {},
                       .path = assignment.substr(0, assignment.find('=')),
                       .values = assigned_value(assignment)});
}

std::string Origins::learner() const {
    std::string name = "ppo";
    const auto take = [&](const Json* value) {
        if (value && value->is_string()) name = value->get<std::string>();
    };
    for (const Layer& layer : layers_) {
        if (!layer.name.empty()) take(value_at(layer.values, "learner.name"));
        else if (layer.path == "learner") take(value_at(layer.values, "name"));
        else if (layer.path == "learner.name") take(&layer.values);
    }
    return name;
}

Error Origins::placed(const Error& error) const {
    const std::string owner = learner();
    const bool of_learner = error.where() == owner;
    // "run.json: run.keep" and what is wrong, or "run.json" and "run.keep: " with it.
    std::string path, what = error.reason();
    if (error.where().starts_with(where_ + ": ")) path = error.where().substr(where_.size() + 2);
    else {
        const size_t colon = what.find(": ");
        if (colon == std::string::npos || (!of_learner && error.where() != where_)) return error;
        path = what.substr(0, colon);
        what.erase(0, colon + 2);
    }
    // A learner knows its own settings, and the policies within them.
    if (of_learner && path != "policies" && !is_below(path, "policies")) path = "learner." + path;
    if (of_learner) what = owner + ": " + what;
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
        const bool option = layer->name.empty();
        if (option && layer->path == path) return Error("--set " + path, what, error.instead());
        if (option ? is_below(path, layer->path) : value_at(layer->values, path) != nullptr)
            return Error((option ? "--set " + layer->path : layer->name) + ": " + path, what,
                         error.instead());
    }
    // What is wrong with an object that options alone have put together.
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer)
        if (layer->name.empty() && is_below(layer->path, path))
            return Error("--set " + layer->path, path + ": " + what, error.instead());
    return error;
}

}
