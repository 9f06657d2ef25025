#include "algorithms/replay/replay.h"

#include "algorithms/policy_gradient/plan/headers.h"
#include "algorithms/policy_gradient/plan/schema_view.h"
#include "algorithms/replay/headers.h"

namespace replay {
namespace {

template <class T> constexpr nacelle::Dtype dtype_for() {
    if constexpr (std::is_same_v<T, float>) return nacelle::Dtype::f32;
    else if constexpr (std::is_same_v<T, double>) return nacelle::Dtype::f64;
    else if constexpr (std::is_same_v<T, uint8_t>) return nacelle::Dtype::u8;
    else if constexpr (std::is_same_v<T, int64_t>) return nacelle::Dtype::i64;
    else return nacelle::Dtype::u64;
}

std::string size_text(uint64_t bytes) {
    static const char* const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    double size = double(bytes);
    int unit = 0;
    for (; size >= 1000 && unit < 4; ++unit) size /= 1000;
    char text[32];
    std::snprintf(text, sizeof text, unit ? "%.3g %s" : "%.0f %s", size, units[unit]);
    return text;
}

}

Replay::Replay(nacelle::plugin::Host host, const Settings& settings, Form form, uint64_t free_bytes)
    : host_(host), environment_(host.environment()), settings_(settings) {
    const learn::SchemaView schema(environment_);
    masked_ = schema.header().group[0].mask_width > 0;
    a_.ring.rows = environment_.envs;
    a_.ring.width = schema.seen(0);
    a_.ring.choices = schema.choices(0);
    a_.ring.parts = schema.header().group[0].action_parts;
    a_.rank = host.ranks().rank;
    a_.ranks = host.ranks().ranks;
    a_.form = form;
    a_.warm_up = settings.warm_up;
    a_.least_exploration = float(settings.least_exploration);
    a_.alpha = float(settings.priority);
    a_.n_step = settings.n_step;
    a_.noise_steps = uint32_t(settings.noise_steps);
    a_.least_log_deviation = least_log_deviation;
    a_.most_log_deviation = most_log_deviation;
    size_ring(free_bytes);
    compile();
}

uint64_t bytes_of_step(const nacelle_environment& environment, bool prioritised) {
    const learn::SchemaView schema(environment);
    const bool masked = schema.header().group[0].mask_width > 0;
    return sizeof(float) * (2 * schema.seen(0) + schema.header().group[0].action_parts + 1) + 1 +
           (masked ? 2 * schema.choices(0) : 0) + (prioritised ? sizeof(float) + 1 : 0);
}

void Replay::size_ring(uint64_t free) {
    const Ring& ring = a_.ring;
    const uint64_t of_step = bytes_of_step(environment_, settings_.prioritised()),
                   slots = settings_.capacity / rows_of_all(a_),
                   bytes = slots * ring.rows * of_step;
    const std::string size =
        std::to_string(slots * ring.rows) + " steps of " + std::to_string(of_step) + " bytes, " +
        size_text(bytes) +
        (a_.ranks > 1 ? " on each of " + std::to_string(a_.ranks) + " ranks" : "");
    if (bytes > free - free / 16)
        learn::wrong(
            "capacity",
            "a replay of " + size + ", does not fit: " + size_text(free) + " are free" +
                (environment_.on_gpu ? " on the GPU" : "") + "; the largest that fits is " +
                std::to_string((free - free / 16) / of_step / ring.rows * rows_of_all(a_)));
    host_.log(NACELLE_INFO, "the replay has " + size +
                                (settings_.saves_replay ? ", and so have checkpoints"
                                                        : "; checkpoints are without it"));
    a_.ring.slots = uint32_t(slots);
}

ProgramTexts program_texts(bool prioritised) {
    const std::string begin = "#include <replay/kernels.h>\nNACELLE_PROGRAM()\n";
    // Images are the author's types, and sizes alone do not know them.
    ProgramTexts programs = {{begin + "REPLAY_STEP()\n", {"see", "keep"}},
                             {begin, {"choose", "advance", "sample", "fetch", "draw_noise"}}};
    if (prioritised)
        for (const char* const name : {"admit", "revise", "follow", "add_up_all"})
            programs.of_sizes.kernels.push_back(name);
    for (ProgramText* const program : {&programs.of_author, &programs.of_sizes})
        for (const char* const name : program->kernels)
            program->text += "REPLAY_KERNEL(" + std::string(name) + ")\n";
    return programs;
}

void Replay::compile() {
    std::vector<nacelle_header> headers(learn::kernel_headers().begin(),
                                        learn::kernel_headers().end());
    headers.insert(headers.end(), kernel_headers().begin(), kernel_headers().end());
    const ProgramTexts programs = program_texts(settings_.prioritised());
    const uint32_t first = host_.program(programs.of_author.text, headers),
                   second = host_.program_of_sizes(programs.of_sizes.text, headers);
    step_ = host_.kernel(first, "replay_step");
    for (const auto& [program, texts] :
         {std::pair(first, &programs.of_author), std::pair(second, &programs.of_sizes)})
        for (const char* const name : texts->kernels)
            kernels_.emplace_back(name, host_.kernel(program, "replay_" + std::string(name)));
}

template <class T>
T* Replay::array(const std::string& name, std::initializer_list<uint64_t> shape, Kept kept) const {
    const std::vector<int64_t> sizes(shape.begin(), shape.end());
    return static_cast<T*>(host_.array_create(name, uint32_t(dtype_for<T>()), sizes, kept).data);
}
template float* Replay::array<float>(const std::string&, std::initializer_list<uint64_t>,
                                     Kept) const;
template int64_t* Replay::array<int64_t>(const std::string&, std::initializer_list<uint64_t>,
                                         Kept) const;
template double* Replay::array<double>(const std::string&, std::initializer_list<uint64_t>,
                                       Kept) const;

void Replay::make_arrays() {
    make_ring();
    if (settings_.prioritised()) make_tree();
    make_batch();
    const Ring& ring = a_.ring;
    a_.standing = array<float>("standing", {ring.rows, ring.width}, false);
    a_.outputs = array<float>("outputs", {ring.rows, uint64_t(output_count())}, false);
    // Part of checkpoints: the first choices of a run that goes on explore as its last ones did.
    a_.dials = array<float>("dials", {dial_count}, true);
    const learn::Schedule* const schedules = settings_.dials;
    auto* const room =
        array<float>("schedules", {dial_count, sizeof(learn::Schedule) / sizeof(float)}, false);
    host_.write(room, schedules, sizeof settings_.dials);
    a_.schedules = reinterpret_cast<const learn::Schedule*>(room);
    float first[dial_count];
    for (int i = 0; i < dial_count; ++i) first[i] = schedules[i].from;
    host_.write(a_.dials, first, sizeof first);
}
int64_t Replay::output_count() const {
    return a_.form == Form::normal ? 2 * parts() : a_.form == Form::means ? parts() : choices();
}
void Replay::make_ring() {
    Ring& ring = a_.ring;
    const Kept kept = settings_.saves_replay ? Kept::by_each_in_rows : Kept::not_at_all;
    ring.obs = array<float>("replay.obs", {ring.slots, ring.rows, ring.width}, kept);
    ring.next_obs = array<float>("replay.next_obs", {ring.slots, ring.rows, ring.width}, kept);
    ring.action = array<float>("replay.action", {ring.slots, ring.rows, ring.parts}, kept);
    ring.reward = array<float>("replay.reward", {ring.slots, ring.rows}, kept);
    ring.flag = array<uint8_t>("replay.flag", {ring.slots, ring.rows}, kept);
    ring.steps = array<uint64_t>("replay.steps", {1}, settings_.saves_replay);
    if (!masked_) return;
    ring.mask = array<uint8_t>("replay.mask", {ring.slots, ring.rows, ring.choices}, kept);
    ring.next_mask =
        array<uint8_t>("replay.next_mask", {ring.slots, ring.rows, ring.choices}, kept);
}
void Replay::make_tree() {
    const Ring& ring = a_.ring;
    Tree& tree = a_.tree;
    tree.leaf = array<float>("replay.priority", {ring.slots, ring.rows},
                             settings_.saves_replay ? Kept::by_each_in_rows : Kept::not_at_all);
    tree.most = array<float>("replay.most_priority", {1}, settings_.saves_replay);
    tree.summed = array<uint64_t>("replay.summed", {1}, false);
    const float one = 1;
    host_.write(tree.most, &one, sizeof one);
    tree.count[0] = uint64_t(ring.slots) * ring.rows;
    do {
        const uint64_t count = (tree.count[tree.levels] + branches - 1) / branches;
        tree.sum[tree.levels] =
            array<double>("replay.sums" + std::to_string(tree.levels + 1), {count}, false);
        tree.count[++tree.levels] = count;
    } while (tree.count[tree.levels] > 1);
}
void Replay::make_batch() {
    Batch& b = a_.batch;
    const Ring& ring = a_.ring;
    const uint64_t size = b.size = settings_.batch / a_.ranks;
    b.place = array<int64_t>("batch.place", {size}, false);
    b.last = array<int64_t>("batch.last", {size}, false);
    b.reward = array<float>("batch.reward", {size}, false);
    b.discount = array<float>("batch.discount", {size}, false);
    b.obs = array<float>("batch.obs", {size, ring.width}, false);
    b.next_obs = array<float>("batch.next_obs", {size, ring.width}, false);
    b.action = array<float>("batch.action", {size, ring.parts}, false);
    if (masked_) {
        b.mask = array<uint8_t>("batch.mask", {size, ring.choices}, false);
        b.next_mask = array<uint8_t>("batch.next_mask", {size, ring.choices}, false);
    }
    if (settings_.prioritised()) {
        b.weight = array<float>("batch.weight", {size}, false);
        b.priority = array<float>("batch.priority", {size}, false);
    }
    if (!settings_.discrete) {
        b.noise_size = uint32_t(2 * size * ring.parts);
        b.noise = array<float>("batch.noise", {2, size, ring.parts}, false);
    }
}

void Replay::launch(const char* name, uint64_t items, void* stream) {
    for (const auto& [its_name, kernel] : kernels_)
        if (its_name == name) return host_.launch(kernel, items, learn::block_threads, a_, stream);
}
void Replay::choose(bool trains, bool greedy, uint64_t some, void* stream) {
    a_.trains = trains;
    a_.greedy = greedy;
    launch("choose", some, stream);
}
void Replay::step(void* stream) {
    host_.launch_environments(step_, a_, stream);
    launch("keep", rows() * width(), stream);
    host_.advance(1, stream);
    launch("advance", dial_count, stream);
    if (!settings_.prioritised()) return;
    launch("admit", rows(), stream);
    follow(false, stream);
}
void Replay::follow(bool from_batch, void* stream) {
    a_.from_batch = from_batch;
    uint64_t span = 1;
    for (a_.level = 1; a_.level <= a_.tree.levels; ++a_.level) {
        span *= branches;
        launch("follow", from_batch ? a_.batch.size : 2 * (rows() / span + 2), stream);
    }
}
void Replay::draw(uint32_t update, void* stream) {
    a_.update = update;
    launch("sample", a_.batch.size, stream);
    const uint64_t across = std::max({a_.ring.width, a_.ring.parts, a_.ring.choices});
    launch("fetch", a_.batch.size * across, stream);
    if (a_.batch.noise) launch("draw_noise", a_.batch.noise_size, stream);
}
void Replay::revise(void* stream) {
    if (!settings_.prioritised()) return;
    launch("revise", a_.batch.size, stream);
    follow(true, stream);
}
std::vector<float> Replay::dials() const {
    std::vector<float> found(dial_count);
    host_.read(found.data(), a_.dials, found.size() * sizeof(float));
    return found;
}
uint64_t Replay::steps() const {
    uint64_t steps = 0;
    host_.read(&steps, a_.ring.steps, sizeof steps);
    return steps * rows_of_all(a_);
}

}
