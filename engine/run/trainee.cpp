#include "engine/run/trainee.h"

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/plugins/run_hook.h"
#include "engine/run/author_files.h"
#include "engine/run/policy_difference.h"
#include "engine/run/tensor_finite.h"

#include <algorithm>
#include <cstring>

namespace nacelle {

namespace {

// Where the configuration does not say how many: a CPU would learn hardly anything within minutes from as many
// environments as keep a GPU busy.
constexpr uint32_t usual_on_gpu = 4096, usual_on_cpu = 64;

struct Wanted {
    EnvSettings settings;
    LazyEnvironment::Loaded hooks;
};
Wanted wanted_of(const RunsOn& on, Plugins& plugins, const Json& configuration,
                 const std::string& where) {
    Config top(configuration, where);
    const uint64_t seed = static_cast<uint64_t>(top.integer("seed", 1, 0, int64_t(1) << 53));
    Json hooks = top.object("hooks").json();
    // Keys that a Trainee or a TrainingRun reads.
    for (const char* const key : {"learner", "policies", "run", "solved", "reload"}) top.any(key);
    EnvSettings settings = read_env_settings(top.object("env"), seed, on.env_folders,
                                             on.cuda() ? usual_on_gpu : usual_on_cpu);
    settings.count = envs_of_rank(settings.count, configuration, on, where);
    settings.first_env = on.ranks ? on.ranks->rank() * settings.count : 0;
    top.finish("the configuration");
    const std::filesystem::path folder = settings.source.parent_path();
    return {std::move(settings), [&plugins, hooks, folder](Environment& env) {
                for (const auto& [hook, config] : hooks.items())
                    run_hook(plugins, env, hook, config, folder);
            }};
}

const Tensor* tensor_named(const Checkpoint& checkpoint, const std::string& name) {
    const auto found = std::find_if(checkpoint.tensors.begin(), checkpoint.tensors.end(),
                                    [&](const Tensor& tensor) { return tensor.name == name; });
    return found == checkpoint.tensors.end() ? nullptr : &*found;
}
bool has_form(const Tensor& tensor, const NamedArray& array) {
    return tensor.dtype == array.dtype() && tensor.shape == array.shape();
}

}

std::shared_ptr<Environment> load_environment(std::shared_ptr<RunsOn> on, Plugins& plugins,
                                              const Json& configuration, const std::string& where) {
    const Wanted wanted = wanted_of(*on, plugins, configuration, where);
    return std::make_shared<Environment>(std::move(on), wanted.settings, wanted.hooks);
}

// Of the ranks of a machine the first one compiles, and the others find its programs in the cache.
void take_turns(RunsOn& on, bool first) {
    if (on.ranks && (on.ranks->local_rank() == 0) == first) RunRanks(on).decide(0, false);
}

LazyEnvironment begin_environment(std::shared_ptr<RunsOn> on, Plugins& plugins,
                                  const Json& configuration, const std::string& where) {
    Wanted wanted = wanted_of(*on, plugins, configuration, where);
    take_turns(*on, false);
    return {std::move(on), std::move(wanted.settings), std::move(wanted.hooks)};
}

Trainee::Trainee(const LazyEnvironment& environment, Plugins& plugins, const Json& configuration,
                 const std::string& where)
    : plugins_(plugins) {
    try {
        make_learner(environment, Config(configuration, where));
    } catch (...) {
        environment.get();    // what is wrong with it comes first
        throw;
    }
    environment_ = environment.get();
    files_ = author_files(*environment_);
    evaluator_ = std::make_unique<Evaluator>(*environment_, *learner_);
    take_turns(environment_->on(), true);
    learner_->connect_peers();
}

void Trainee::make_learner(const LazyEnvironment& environment, Config top) {
    Config learner = top.object("learner");
    const std::string name = learner.text("name", "ppo");
    Json settings = learner.json();
    if (const Json policies = top.any("policies"); !policies.is_null())
        settings["policies"] = policies;
    learner_ = std::make_unique<LearnerInstance>(plugins_, environment, name, settings);
    settings_ = std::move(settings);
}

Iteration Trainee::iteration() { return Iteration(*learner_, *environment_->on().stream); }

void Trainee::reloaded() {
    learner_->refresh();
    evaluator_->reloaded();
    files_ = author_files(*environment_);
}

Iteration Trainee::restart(std::shared_ptr<Environment> environment) {
    AuthorFiles files = author_files(*environment);
    auto learner =
        std::make_unique<LearnerInstance>(plugins_, *environment, learner_->name(), settings_);
    Iteration iteration(*learner, *environment->on().stream);
    evaluator_ = std::make_unique<Evaluator>(*environment, *learner);
    learner_ = std::move(learner);
    environment_ = std::move(environment);
    files_ = std::move(files);
    return iteration;
}

CheckpointRecord Trainee::checkpoint_record() {
    const Header& header = environment_->schema().header();
    return {.environment = environment_->name(),
            .learner = learner_->name(),
            .layout = header.layout,
            .spaces = header.spaces,
            .files = files_.hashes,
            .tick = environment_->tick(),
            .policies = learner_->policies()};
}

// All arrays of the environment, though a few could be recomputed: a missing one would only show as another result.
// Arrays of an earlier learner may remain in the environment.
std::vector<NamedArray*> Trainee::kept_arrays() {
    const std::string own = learner_->name() + ".";
    std::vector<NamedArray*> found;
    for (NamedArray& array : environment_->arrays().all())
        if (array.role() != Role::plugin || (array.kept() && array.name().starts_with(own)))
            found.push_back(&array);
    return found;
}

// Rows run over environments in the last dimension of columns, else in the first one.
Parts Trainee::parts_of(const NamedArray& array) const {
    const uint32_t ranks = environment_->on().ranks ? environment_->on().ranks->count() : 1;
    Parts parts{.shape = array.shape(), .outer = 1, .bytes = array.bytes(), .shared = true};
    size_t along = 0;
    if (array.role() == Role::plugin) {
        parts.shared = array.kept() < by_each_rank;
        along = array.kept() == by_each_rank_in_rows ? 1 : 0;
    } else {
        const std::vector<Field>& fields = environment_->schema().fields();
        const auto field = std::find_if(fields.begin(), fields.end(),
                                        [&](const Field& its) { return array.name() == its.name; });
        parts.shared = field->per == Per::all;
        parts.taken = field->per == Per::group && ranks > 1;
        if (parts.taken)
            parts.shape =
                environment_->schema().shape(*field, size_t(environment_->count()) * ranks);
        if (field->layout == Layout::columns) along = parts.shape.size() - 1;
    }
    if (ranks == 1) parts.shared = true;
    if (parts.shared || parts.taken) return parts;
    for (size_t i = 0; i < along; ++i) parts.outer *= size_t(parts.shape[i]);
    parts.bytes /= parts.outer;
    parts.shape[along] *= ranks;
    return parts;
}

std::string Trainee::tensors(RunRanks& ranks) {
    const std::vector<NamedArray*> arrays = kept_arrays();
    std::vector<Tensor> forms;
    for (const NamedArray* array : arrays)
        forms.push_back(
            {.name = array->name(), .dtype = array->dtype(), .shape = parts_of(*array).shape});
    Hash same;    // of what is the same on all ranks
    const auto gather = [&](const NamedArray& array, std::byte* target) {
        const Parts parts = parts_of(array);
        if (parts.shared) {
            array.read(target);
            if (ranks.several()) same.add({reinterpret_cast<const char*>(target), array.bytes()});
            return;
        }
        if (parts.taken) {
            size_t bytes = dtype_size(array.dtype());
            for (const int64_t size : parts.shape) bytes *= size_t(size);
            std::memset(target, 0, bytes);
            return;
        }
        std::vector<std::byte> own(array.bytes()), its(array.bytes());
        array.read(own.data());
        for (uint32_t rank = 0; rank < ranks.count(); ++rank) {
            if (rank == ranks.rank()) its = own;
            ranks.share(its, rank);
            for (size_t o = 0; o < parts.outer; ++o)
                std::memcpy(target + (o * ranks.count() + rank) * parts.bytes,
                            its.data() + o * parts.bytes, parts.bytes);
        }
    };
    std::string file = safetensors_of(forms, [&](size_t i, void* target) {
        gather(*arrays[i], static_cast<std::byte*>(target));
    });
    ranks.require_equal(same.hex(), "weights");
    return file;
}

void Trainee::require_same(const Checkpoint& checkpoint, bool changed_files) {
    const CheckpointRecord mine = checkpoint_record(), &its = checkpoint.record;
    if (its.environment != mine.environment)
        throw Error(checkpoint.where,
                    "is a checkpoint of " + its.environment + "; this run has " + mine.environment);
    if (its.learner != mine.learner)
        throw Error(checkpoint.where,
                    "is a checkpoint of " + its.learner + "; this run has " + mine.learner);
    const std::string name = first_difference(its.files, mine.files);
    if (!name.empty() && !changed_files)
        throw Error(files_.places.at(name).string(),
                    "is not what it was at step " + std::to_string(its.steps) + " of this run",
                    "put it back: the run's folder 'source' has it; or go on with the changed one "
                    "by --changed-source");
}

void Trainee::require_same_layout(const Checkpoint& checkpoint) {
    const CheckpointRecord mine = checkpoint_record(), &its = checkpoint.record;
    if (its.layout != mine.layout || its.spaces != mine.spaces)
        throw Error(environment_->settings().source.string(),
                    "its arrays are no longer those of " + checkpoint.where,
                    its.spaces != mine.spaces ? "what agents see or do has changed"
                                              : "a field has another name, type or size");
}

void Trainee::load(const Checkpoint& checkpoint, bool changed_files) {
    require_same(checkpoint, changed_files);
    require_same_layout(checkpoint);
    const std::vector<NamedArray*> arrays = kept_arrays();
    std::vector<const Tensor*> sources;
    for (const NamedArray* array : arrays) {
        const Tensor* const found = tensor_named(checkpoint, array->name());
        const Tensor whole{
            .name = array->name(), .dtype = array->dtype(), .shape = parts_of(*array).shape};
        if (!found || found->dtype != whole.dtype || found->shape != whole.shape)
            throw Error(checkpoint.where,
                        found ? "its " + array->name() + " is " + found->form() +
                                    "; that of this run is " + whole.form()
                              : "has no " + array->name() + ", which this run needs",
                        "env.count and the learner's sizes must be the checkpoint's");
        require_finite(*array, *found, checkpoint.where);
        sources.push_back(found);
    }
    if (checkpoint.tensors.size() != arrays.size())
        throw Error(checkpoint.where, "holds " + std::to_string(checkpoint.tensors.size()) +
                                          " arrays; this run has " + std::to_string(arrays.size()));
    for (size_t i = 0; i < arrays.size(); ++i) {
        const Parts parts = parts_of(*arrays[i]);
        if (parts.taken) continue;
        if (parts.shared) {
            arrays[i]->write_bytes(sources[i]->data.data(), arrays[i]->count());
            continue;
        }
        const Ranks& ranks = *environment_->on().ranks;
        std::vector<std::byte> own(arrays[i]->bytes());
        for (size_t o = 0; o < parts.outer; ++o)
            std::memcpy(own.data() + o * parts.bytes,
                        sources[i]->data.data() + (o * ranks.count() + ranks.rank()) * parts.bytes,
                        parts.bytes);
        arrays[i]->write_bytes(own.data(), arrays[i]->count());
    }
    environment_->set_tick(checkpoint.record.tick);
}

void Trainee::load_to_act(const Checkpoint& checkpoint, bool changed_files) {
    const std::vector<NamedArray*> arrays = kept_arrays();
    const CheckpointRecord mine = checkpoint_record(), &its = checkpoint.record;
    const bool all_fits = its.layout == mine.layout && its.spaces == mine.spaces &&
                          checkpoint.tensors.size() == arrays.size() &&
                          std::all_of(arrays.begin(), arrays.end(), [&](const NamedArray* array) {
                              const Tensor* const found = tensor_named(checkpoint, array->name());
                              return found && has_form(*found, *array);
                          });
    // An earlier version, of Nacelle or of the learner, did not tell how policies act.
    if (all_fits || its.policies.is_null() || mine.policies.is_null())
        return load(checkpoint, changed_files);
    require_same(checkpoint, changed_files);
    const std::string difference = difference_of_policies(its.policies, mine.policies);
    if (!difference.empty()) throw Error(checkpoint.where, difference);
    const std::string prefix = learner_->name() + ".";
    std::vector<std::pair<NamedArray*, const Tensor*>> pairs;
    for (const std::string& name : arrays_of_policies(mine.policies)) {
        NamedArray& array = environment_->arrays()[prefix + name];
        const Tensor* const found = tensor_named(checkpoint, array.name());
        if (!found || !has_form(*found, array))
            throw Error(checkpoint.where, "is damaged: its " + array.name() + " is " +
                                              (found ? found->form() : "missing") + ", not " +
                                              array.form());
        require_finite(array, *found, checkpoint.where);
        pairs.emplace_back(&array, found);
    }
    for (const auto& [array, tensor] : pairs)
        array->write_bytes(tensor->data.data(), array->count());
    environment_->set_tick(its.tick);
}

}
