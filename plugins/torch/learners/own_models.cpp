#include "plugins/torch/learners/own_models.h"

#include "algorithms/policy_gradient/plan/schema_view.h"
#include "algorithms/policy_gradient/settings/json_text.h"
#include "plugins/torch/learners/model_files.h"

#include <ATen/core/grad_mode.h>
#include <nacelle/plugin/config.h>

namespace torch_learn {
namespace {

using at::Tensor;
using learn::wrong;
using nacelle::torch_models::Part;
using nacelle::torch_models::Sizes;

Sizes sizes_of(const learn::NetworkShape& shape, const learn::SchemaView& schema, uint32_t group) {
    Sizes sizes{.seen = shape.seen, .outputs = shape.outputs(), .parts = {}};
    int64_t number = 0, element = schema.header().group[group].obs_width;
    for (uint32_t i = 0; i < schema.header().fields; ++i) {
        const nacelle::Field& field = schema.field(i);
        if (field.role != nacelle::Role::obs || field.group != group) continue;
        if (field.kind != nacelle::Kind::array) continue;
        sizes.parts.push_back(
            {field.name, element, int64_t(field.count), {field.dims, field.dims + field.rank}});
        element += int64_t(field.count);
    }
    if (schema.header().group[group].obs_width)
        sizes.parts.insert(sizes.parts.begin(),
                           Part{"numbers", number, schema.header().group[group].obs_width, {}});
    return sizes;
}
std::string text_of(at::IntArrayRef sizes) {
    std::string text;
    for (const int64_t size : sizes) text += (text.empty() ? "" : ", ") + std::to_string(size);
    return "[" + text + "]";
}

// What a model makes of two rows has to be what a policy needs.
void try_out(Model& model, const Sizes& sizes, const std::string& where) {
    const at::NoGradGuard no_gradient;
    const int64_t rows = 2, width = model.memory();
    if (width < 0) wrong(where, "it remembers " + std::to_string(width) + " numbers");
    Tensor memory = at::zeros({rows, width});
    Tensor out;
    try {
        out = model.forward(at::zeros({rows, sizes.seen}), memory);
    } catch (const std::exception& error) {
        const std::string text = error.what();
        wrong(where, "it fails on " + std::to_string(rows) + " rows of " +
                         std::to_string(sizes.seen) + " zeros: " + text.substr(0, text.find('\n')));
    }
    const std::vector<int64_t> wanted = {rows, sizes.outputs + 1};
    if (!out.defined() || out.sizes() != at::IntArrayRef(wanted) || out.scalar_type() != at::kFloat)
        wrong(where,
              "it makes " +
                  (out.defined() ? text_of(out.sizes()) + " of " + c10::toString(out.scalar_type())
                                 : std::string("nothing")) +
                  " of two rows; expected " + text_of(wanted) +
                  " of Float: what actions are chosen by, and the value behind it");
    if (memory.sizes() != at::IntArrayRef({rows, width}))
        wrong(where, "it leaves a memory of " + text_of(memory.sizes()) + "; expected " +
                         text_of({rows, width}));
    if (!out.isfinite().all().item<bool>()) wrong(where, "it makes numbers that are not finite");
}

}

const nacelle::torch_models::Table& OwnModels::offered(const std::string& name,
                                                       const std::string& where) const {
    try {
        return *static_cast<const nacelle::torch_models::Table*>(
            host_.offer("torch_model/1", name));
    } catch (const std::exception& error) {
        wrong(where, error.what());
    }
}

std::shared_ptr<Model> OwnModels::make(const learn::PolicySettings& policy, const Sizes& sizes,
                                       uint64_t seed) const {
    const std::string where = "policies." + policy.name + ".model";
    nacelle::plugin::Config config(nacelle::plugin::JsonReader(policy.own.text).whole(),
                                   where + ".");
    for (const char* const kind : {"script", "package"})
        if (config.has(kind)) {
            const std::string path = config.text(kind, "");
            config.text("hash", "");    // of the file, which the engine has compared
            config.finish();
            if (std::string(kind) == "script") return open_script(path, where);
            if (policy.role == learn::PolicySettings::Role::trained)
                wrong(where, "a package of AOTInductor is computed as it is and does not learn; "
                             "\"train\": false plays by it, and a \"script\" learns");
            return open_package(path, where);
        }
    const std::string name = config.text("name", "");
    if (name.empty())
        wrong(where,
              "expected {\"name\": ...} of a plugin, {\"script\": ...} or {\"package\": ...}");
    const nacelle::torch_models::Table& table = offered(name, where);
    if (std::string_view(table.version) != TORCH_VERSION)
        wrong(where, "'" + name + "' was built with LibTorch " + table.version +
                         "; this is " TORCH_VERSION);
    at::manual_seed(seed);
    nacelle::plugin::JsonValue settings = nacelle::plugin::JsonReader(policy.own.text).whole();
    const auto key = std::find(settings.keys.begin(), settings.keys.end(), "name");
    settings.list.erase(settings.list.begin() + (key - settings.keys.begin()));
    settings.keys.erase(key);
    try {
        return table.make(sizes, learn::text_of(settings));
    } catch (const c10::Error& error) {
        wrong(where, error.what_without_backtrace());
    } catch (const std::exception& error) {
        wrong(where, error.what());
    }
}

void OwnModels::describe(learn::PolicySettings& policy, const nacelle_environment& environment) {
    const learn::SchemaView schema(environment);
    const Sizes sizes = sizes_of(learn::NetworkShape(policy, environment), schema, policy.group);
    const std::string where = "policies." + policy.name + ".model";
    std::shared_ptr<Model> model = make(policy, sizes, environment.seed + made_.size());
    for (const Tensor& parameter : model->parameters()) {
        if (parameter.scalar_type() != at::kFloat)
            wrong(where, std::string("its parameters are to be of Float, not of ") +
                             c10::toString(parameter.scalar_type()));
        const Tensor flat = parameter.detach().contiguous().view({-1});
        const float* const first = flat.const_data_ptr<float>();
        policy.own.weights.insert(policy.own.weights.end(), first, first + flat.numel());
    }
    if (policy.own.weights.empty() && policy.role == learn::PolicySettings::Role::trained)
        wrong(where, "it has no parameters, so that there is nothing to learn");
    // A package's numbers are in its library, and an array of weights is never empty.
    if (policy.own.weights.empty()) policy.own.weights.push_back(0);
    try_out(*model, sizes, where);
    policy.own.memory = model->memory();
    made_.emplace_back(policy.name, std::move(model));
}

std::shared_ptr<Model> OwnModels::of(const std::string& policy) const {
    for (const auto& [name, model] : made_)
        if (name == policy) return model;
    return nullptr;
}

bool OwnModels::all_captured() const {
    return std::all_of(made_.begin(), made_.end(),
                       [](const auto& one) { return one.second->is_captured(); });
}

}
