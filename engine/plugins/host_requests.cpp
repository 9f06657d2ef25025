// The requests of a plugin to its environment.
#include "engine/base/error.h"
#include "engine/base/npy.h"
#include "engine/plugins/host_services.h"

#include <cstdlib>
#include <cstring>

namespace nacelle {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw std::runtime_error(text); }

// Copies the part of the answer that fits into the caller's struct.
template <class Out> void give(Out* out, Out value) {
    if (!out || out->size < sizeof out->size) refuse("the size of the answer's struct is not set");
    value.size = std::min(out->size, static_cast<uint32_t>(sizeof value));
    std::memcpy(out, &value, value.size);
}

// An element of an array of structs, whose size the first one tells.
template <class Struct> const Struct& element(const Struct* first, uint32_t i) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(first);
    return *reinterpret_cast<const Struct*>(bytes + size_t{i} * first->size);
}

std::string text_of(const char* text, const char* what) {
    if (!text || !*text) refuse(std::string(what) + " is empty");
    return text;
}

// The sizes, after a check that such an array is possible.
std::vector<int64_t> checked_shape(const std::string& name, uint32_t dtype, uint32_t rank,
                                   const int64_t* shape) {
    if (dtype > static_cast<uint32_t>(Dtype::b8))
        refuse(name + ": there is no element type " + std::to_string(dtype));
    if (rank > std::size(nacelle_array{}.shape))
        refuse(name + ": an array has at most 8 dimensions");
    if (rank > 0 && !shape) refuse(name + ": its shape is null");
    uint64_t bytes = dtype_size(static_cast<Dtype>(dtype));
    for (const int64_t size : std::span(shape, rank))
        if (size < 1 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes))
            refuse(name + ": a size of " + std::to_string(size) + " is not possible");
    return {shape, shape + rank};
}

// "sm_90" or "sm_90a" as 90.
uint32_t compute_of(const DeviceInfo& device) {
    const size_t digits = device.architecture.find_first_of("0123456789");
    if (digits == std::string::npos) return 0;
    return static_cast<uint32_t>(std::strtoul(device.architecture.c_str() + digits, nullptr, 10));
}

nacelle_array view_of(const NamedArray& array) {
    nacelle_array view{};
    view.dtype = static_cast<uint32_t>(array.dtype());
    view.data = array.device();
    view.rank = static_cast<uint32_t>(array.shape().size());
    for (size_t i = 0; i < array.shape().size(); ++i) view.shape[i] = array.shape()[i];
    return view;
}

}

void HostServices::forbid_recording(const char* what) const {
    if (context_ == CallContext::recording)
        refuse(std::string(what) + " is not possible within record()");
}

void HostServices::require_stream(void* stream) const {
    if (stream && stream != environment_->on().stream->native())
        refuse("the stream is not the one of this environment");
}

void HostServices::describe(nacelle_environment* out) {
    const EnvSchema& known = environment_->code().schema;
    Header header = known.header();
    header.header_size = sizeof(Header);
    header.field_size = sizeof(Field);
    const std::vector<Field>& fields = known.fields();
    std::vector<std::byte> schema(sizeof header + fields.size() * sizeof(Field));
    std::memcpy(schema.data(), &header, sizeof header);
    std::memcpy(schema.data() + sizeof header, fields.data(), fields.size() * sizeof(Field));
    if (schemas_.empty() || schemas_.back() != schema) schemas_.push_back(std::move(schema));
    const auto* const table = reinterpret_cast<const nacelle_schema*>(schemas_.back().data());
    give(out, {.size = 0,
               .envs = environment_->settings().count,
               .name = table->name,
               .schema = table,
               .seed = environment_->settings().seed,
               .on_gpu = environment_->on().cuda(),
               .time_limit = header.time_limit,
               .compute = compute_of(environment_->on().device->info()),
               .version = environment_->version(),
               .drafts = environment_->on().compiler->has_helpers()});
}

void HostServices::array(const char* name, nacelle_array* out) {
    give(out, view_of(env().arrays()[text_of(name, "the array's name")]));
}

// Reuses an array of an instance that is gone: the registry never removes arrays of plugins.
void HostServices::array_create(const char* name, uint32_t dtype, uint32_t rank,
                                const int64_t* shape, uint32_t persistent, nacelle_array* out) {
    forbid_recording("array_create()");
    const std::string full = plugin_ + "." + text_of(name, "the array's name");
    const auto sizes = checked_shape(full, dtype, rank, shape);
    if (persistent > by_each_rank_in_rows)
        refuse(full + ": whether it is persistent is 0, 1, 2 or 3, not " +
               std::to_string(persistent));
    if (persistent == by_each_rank_in_rows && rank < 2)
        refuse(full + ": persistent 3 is of arrays with a second dimension");
    const uint8_t kept = uint8_t(persistent);
    Stream& stream = *environment_->on().stream;
    NamedArray* array = env().arrays().find(full);
    if (array && arrays_in_use_->contains(array))
        refuse("there is an array '" + full + "' already");
    if (array) {
        if (array->role() != Role::plugin || array->dtype() != Dtype(dtype) ||
            array->shape() != sizes || array->kept() != kept)
            refuse("there is an array '" + full + "' of another form already: " + array->form());
        stream.fill(array->device(), 0, array->bytes());
        stream.synchronize();
    } else {
        uint64_t bytes = dtype_size(Dtype(dtype));
        for (const int64_t size : sizes) bytes *= static_cast<uint64_t>(size);
        array = &env().arrays().add(NamedArray(full, Dtype(dtype), sizes, Role::plugin, kept,
                                               Buffer(environment_->on().device, bytes), stream));
    }
    arrays_in_use_->insert(array);
    arrays_.push_back(array);
    give(out, view_of(*array));
}

void HostServices::write(void* target, const void* source, uint64_t bytes) {
    forbid_recording("write()");
    if (bytes && (!target || !source)) refuse("write() was given a null pointer");
    environment_->on().stream->to_device(target, source, bytes);
    environment_->on().stream->synchronize();
}

void HostServices::read(void* target, const void* source, uint64_t bytes) {
    forbid_recording("read()");
    if (bytes && (!target || !source)) refuse("read() was given a null pointer");
    environment_->on().stream->to_host(target, source, bytes);
    environment_->on().stream->synchronize();
}

void HostServices::program(const char* instantiation, const nacelle_header* headers,
                           uint32_t header_count, const char* const* defines, uint32_t define_count,
                           uint32_t* out) {
    begin(instantiation, false, headers, header_count, defines, define_count, out);
}
void HostServices::program_of_sizes(const char* instantiation, const nacelle_header* headers,
                                    uint32_t header_count, const char* const* defines,
                                    uint32_t define_count, uint32_t* out) {
    begin(instantiation, true, headers, header_count, defines, define_count, out);
}
void HostServices::begin(const char* instantiation, bool of_sizes, const nacelle_header* headers,
                         uint32_t header_count, const char* const* defines, uint32_t define_count,
                         uint32_t* out) {
    forbid_recording("program()");
    if (!out) refuse("program() was given no place for its answer");
    ProgramText text{.instantiation = text_of(instantiation, "the program's text"),
                     .headers = {},
                     .defines = {},
                     .given_by = plugin_,
                     .of_sizes = of_sizes};
    for (uint32_t i = 0; i < header_count; ++i) {
        const nacelle_header header = as_known(element(headers, i));
        text.headers.push_back(
            {text_of(header.name, "a header's name"), header.text ? header.text : ""});
    }
    for (const char* define : std::span(defines, define_count))
        text.defines.push_back(text_of(define, "a define"));
    programs_.push_back({environment_->code().begin(text), of_sizes});
    *out = static_cast<uint32_t>(programs_.size() - 1);
}
Program& HostServices::loaded(AskedProgram& program) {
    if (!program.loaded) {
        forbid_recording("the first kernel() of a program");
        program.loaded = &env().programs().add(std::move(program.pending));
    }
    return *program.loaded;
}
bool HostServices::load_programs() {
    try {
        for (AskedProgram& program : programs_) loaded(program);
    } catch (const std::exception& wrong) {
        why_ = wrong.what();
        return false;
    }
    return true;
}

void HostServices::kernel(uint32_t program, const char* symbol, nacelle_kernel* out) {
    const std::string name = text_of(symbol, "the kernel's name");
    if (program >= programs_.size()) refuse("there is no program " + std::to_string(program));
    size_t at = 0;
    while (at < kernels_.size() && (kernels_[at].program != program || kernels_[at].symbol != name))
        ++at;
    if (at == kernels_.size()) {
        Program& its = loaded(programs_[program]);
        kernels_.push_back({program, name, its.kernel(name), its.is_draft()});
    }
    const Kernel& found = kernels_[at].kernel;
    give(out, {.size = 0,
               .program = program,
               .function = found.function ? at + 1 : 0,
               .registers = static_cast<uint32_t>(found.registers),
               .local_bytes = static_cast<uint32_t>(found.local_bytes),
               .shared_bytes = static_cast<uint32_t>(found.shared_bytes),
               .max_threads = static_cast<uint32_t>(found.max_threads)});
}

void HostServices::refresh_kernels() {
    for (KnownKernel& known : kernels_) {
        Program& program = loaded(programs_[known.program]);
        const bool may_lack = program.is_draft() || known.of_draft;
        known.kernel =
            may_lack && !program.has_kernel(known.symbol) ? Kernel{} : program.kernel(known.symbol);
    }
}

const HostServices::KnownKernel& HostServices::known(const nacelle_kernel& kernel) const {
    const uint64_t number = as_known(kernel).function;
    if (number == 0 || number > kernels_.size())
        refuse("launch() was given no kernel of this plugin");
    const KnownKernel& found = kernels_[number - 1];
    if (!found.kernel.function)
        refuse("launch() was given " + found.symbol +
               ", which this build of its program leaves out");
    return found;
}

void HostServices::launch(const nacelle_kernel* kernel, const nacelle_launch* launch,
                          const void* args, uint32_t bytes, void* stream) {
    require_stream(stream);
    if (!kernel || !launch || (bytes && !args)) refuse("launch() was given a null pointer");
    if (launch->size < offsetof(nacelle_launch, items_per_block))
        refuse("the size of the launch's struct is not set");
    const nacelle_launch wanted = as_known(*launch);
    const uint32_t threads = wanted.threads ? wanted.threads : uint32_t{kernel_block};
    const LaunchShape shape{.items = wanted.items,
                            .threads = threads,
                            .items_per_block =
                                wanted.items_per_block ? wanted.items_per_block : threads,
                            .shared_bytes = wanted.shared_bytes};
    const KnownKernel& found = known(*kernel);
    env().launch(*programs_[found.program].loaded, found.kernel, shape,
                 {static_cast<const std::byte*>(args), bytes});
}

void HostServices::launch_environments(const nacelle_kernel* kernel, const void* args,
                                       uint32_t bytes, void* stream) {
    require_stream(stream);
    if (!kernel || (bytes && !args)) refuse("launch_environments() was given a null pointer");
    const KnownKernel& found = known(*kernel);
    if (programs_[found.program].of_sizes)
        refuse("launch_environments() was given " + found.symbol +
               ", whose program has the environment's sizes and none of its functions");
    env().launch(found.kernel, env().shape_of(env().count()),
                 {static_cast<const std::byte*>(args), bytes});
}

void HostServices::ranks(nacelle_ranks* out) {
    knows_ranks_ = true;
    const Ranks* const all = environment_->on().ranks.get();
    give(out, {.size = 0,
               .rank = all ? all->rank() : 0,
               .ranks = all ? all->count() : 1,
               .peers = all && all->peers()});
}

// The ranks of a machine are made one after the other, so that they connect later.
void HostServices::peer_memory(uint64_t bytes, void** addresses, nacelle_peers* out) {
    static_assert(NACELLE_MOST_PEERS == PeerMemory::most_ranks);
    if (context_ != CallContext::preparing) refuse("peer_memory() is for create() alone");
    if (bytes == 0 || !addresses)
        refuse("peer_memory() was asked for no bytes, or for no addresses");
    const Ranks* const all = environment_->on().ranks.get();
    if (!all || !all->peers())
        refuse("peer_memory(): kernels of one rank do not reach memory of another");
    peers_.push_back({bytes, addresses, nullptr});
    give(out, {.size = 0, .rank = all->rank(), .ranks = all->count(), .ended = all->ended()});
}

void HostServices::connect_peers() {
    for (AskedMemory& asked : peers_) {
        RunsOn& on = environment_->on();
        asked.memory = std::make_unique<PeerMemory>(*on.ranks, on.device, *on.stream, asked.bytes);
        if (!asked.memory->obstacle().empty()) throw Error(plugin_, asked.memory->obstacle());
        const std::vector<void*> addresses = asked.memory->addresses();
        on.stream->to_device(asked.addresses, addresses.data(), addresses.size() * sizeof(void*));
        on.stream->synchronize();
    }
}

void HostServices::all_reduce(void* data, uint64_t count, uint32_t dtype, uint32_t reduction,
                              void* stream) {
    require_stream(stream);
    if (count && !data) refuse("all_reduce() was given a null pointer");
    if (dtype != NACELLE_F32 && dtype != NACELLE_F64)
        refuse("all_reduce() was given numbers that are neither f32 nor f64");
    if (reduction > NACELLE_MAX)
        refuse("all_reduce(): there is no reduction " + std::to_string(reduction));
    RunsOn& on = environment_->on();
    if (!on.ranks || count == 0) return;
    const auto how = reduction == NACELLE_SUM ? Reduction::sum : Reduction::max;
    if (dtype == NACELLE_F32)
        on.ranks->all_reduce(*on.stream, static_cast<float*>(data), count, how);
    else on.ranks->all_reduce(*on.stream, static_cast<double*>(data), count, how);
}

void HostServices::advance(uint64_t ticks, void* stream) {
    require_stream(stream);
    env().record_ticks(ticks);
}

void HostServices::restart(void* stream) {
    require_stream(stream);
    env().record_restart();
}

void HostServices::replace_table(const char* param, uint32_t dtype, uint32_t rank,
                                 const int64_t* shape, const void* data) {
    const std::string name = text_of(param, "the parameter's name");
    NpyArray array{.dtype = {}, .shape = checked_shape(name, dtype, rank, shape), .data = {}};
    if (!data) refuse(name + ": its data is null");
    array.dtype = dtype_name(Dtype(dtype));
    size_t bytes = dtype_size(Dtype(dtype));
    for (const int64_t size : array.shape) bytes *= static_cast<size_t>(size);
    const auto* const first = static_cast<const std::byte*>(data);
    array.data.assign(first, first + bytes);
    env().set_table(name, array, "the data");
}

void HostServices::offer(const char* kind, const char* name, const void** out) {
    if (context_ != CallContext::preparing) refuse("offers of plugins are asked for in create()");
    if (!out) refuse("there is no place for the offer");
    const PluginOffer wanted{text_of(kind, "the kind of an offer"), text_of(name, "its name")};
    opened_.push_back(plugins_->find(wanted));
    *out = opened_.back()->offer(wanted);
}

}
