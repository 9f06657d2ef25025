/* A sink and a learner in C. GROWN says how its structs differ from those of this host: -1 they are shorter, as of an
 * earlier header of the same version, 1 they are longer, as of a later one. */
#include <nacelle/plugin/abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if GROWN > 0
#define STRUCT(type) struct { type known; uint64_t later[4]; }
#define SIZE(type, first_unknown) (sizeof(type) + 4 * sizeof(uint64_t))
#elif GROWN < 0
#define STRUCT(type) struct { type known; }
#define SIZE(type, first_unknown) offsetof(type, first_unknown)
#else
#define STRUCT(type) struct { type known; }
#define SIZE(type, first_unknown) sizeof(type)
#endif

typedef struct count_args {
    uint32_t* counts;
    uint32_t by;
} count_args;
static const char program_text[] = "#include <plain/args.h>\n"
                                   "using namespace nacelle;\n"
                                   "template <class E>\n"
                                   "NACELLE_INLINE void count(const View<E>& view, const CountArgs& args, Items items) {\n"
                                   "    const uint64_t end = min(items.end, uint64_t(view.head.envs));\n"
                                   "    for (uint64_t i = items.begin; i < end; ++i) args.counts[i] += args.by;\n"
                                   "}\n"
                                   "NACELLE_PROGRAM()\n"
                                   "NACELLE_KERNEL(plain_count, CountArgs, 128, count)\n";
static const char args_text[] = "#include <nacelle/kernel.h>\n"
                                "struct CountArgs { uint32_t* counts; uint32_t by; };\n";

typedef struct plain {
    const nacelle_host* host;
    const nacelle_arrays_service* arrays;
    const nacelle_kernels_service* kernels;
    const nacelle_clock_service* clock;
    STRUCT(nacelle_learner_facts) facts;
    uint32_t envs, *counts;
    int32_t choices;
    nacelle_kernel count;
    double value;
} plain;

static int find_services(plain* self) {
    self->arrays = self->host->get(self->host, "arrays/1");
    self->kernels = self->host->get(self->host, "kernels/1");
    self->clock = self->host->get(self->host, "clock/1");
    return self->arrays && self->kernels && self->clock;
}
static int describe(plain* self) {
    STRUCT(nacelle_environment) environment;
    const nacelle_environment_service* const service = self->host->get(self->host, "environment/1");
    const nacelle_schema* schema;
    uint32_t i;
    memset(&environment, 0, sizeof environment);
    environment.known.size = SIZE(nacelle_environment, seed);
    if (!service || service->describe(self->host, &environment.known) != NACELLE_OK) return 0;
    schema = environment.known.schema;
    for (i = 0; i < schema->fields; ++i) {
        const nacelle_field* const field = nacelle_field_at(schema, i);
        if (field->role == NACELLE_ROLE_ACTION && field->kind == NACELLE_KIND_DISCRETE)
            self->choices += field->choices;
    }
    self->envs = environment.known.envs;
    return 1;
}
static int make(plain* self) {
    STRUCT(nacelle_array) counts;
    STRUCT(nacelle_kernel) kernel;
    STRUCT(nacelle_header) header[2];
    const int64_t shape[] = {self->envs};
    uint32_t program = 0;
    memset(&counts, 0, sizeof counts);
    memset(&kernel, 0, sizeof kernel);
    memset(header, 0, sizeof header);
    counts.known.size = SIZE(nacelle_array, rank);
    kernel.known.size = SIZE(nacelle_kernel, registers);
    header[0].known.size = header[1].known.size = sizeof header[0];
    header[0].known.name = "plain/nothing.h";
    header[1].known.name = "plain/args.h";
    header[1].known.text = args_text;
    if (self->arrays->create(self->host, "counts", NACELLE_U32, 1, shape, 1, &counts.known) ||
        self->kernels->program(self->host, program_text, &header[0].known, 2, NULL, 0, &program) ||
        self->kernels->kernel(self->host, program, "plain_count", &kernel.known))
        return 0;
    self->counts = counts.known.data;
    self->count = kernel.known;
    return 1;
}
static void* create(const nacelle_host* host, const char* config) {
    plain* const self = calloc(1, sizeof *self);
    (void)config;
    self->host = host;
    self->facts.known.size = SIZE(nacelle_learner_facts, most_steps);
    if (find_services(self) && describe(self) && make(self)) {
        self->facts.known.steps_per_iteration = 7 * self->envs;
        return self;
    }
    host->fail(host, host->why(host));
    free(self);
    return NULL;
}
static const nacelle_learner_facts* facts(void* self) { return &((plain*)self)->facts.known; }
static nacelle_status count(plain* self, uint32_t by, void* stream) {
    STRUCT(nacelle_launch) launch;
    count_args args = {0, 0};
    memset(&launch, 0, sizeof launch);
    launch.known.size = SIZE(nacelle_launch, items_per_block);
    launch.known.items = self->envs;
    args.counts = self->counts;
    args.by = by;
    return self->kernels->launch(self->host, &self->count, &launch.known, &args, sizeof args, stream);
}
static nacelle_status record(void* self, void* stream) {
    plain* const its = self;
    if (count(its, 1, stream) || its->clock->advance(its->host, 2, stream)) {
        its->host->fail(its->host, its->host->why(its->host));
        return NACELLE_ERROR;
    }
    return NACELLE_OK;
}
static nacelle_status act(void* self, uint32_t greedy, uint32_t steps, const nacelle_first_episodes* first,
                          void* stream) {
    (void)greedy, (void)steps, (void)first;
    return count(self, 100, stream);
}
static void destroy(void* self) { free(self); }
#if GROWN >= 0
static nacelle_status metrics(void* self, const char* const** names, const double** values, uint32_t* count) {
    static const char* const name[] = {"count", "choices"};
    static double value[2];
    plain* const its = self;
    uint32_t last = 0;
    if (its->arrays->read(its->host, &last, its->counts + its->envs - 1, sizeof last)) return NACELLE_ERROR;
    value[0] = last;
    value[1] = its->choices;
    *names = name;
    *values = value;
    *count = 2;
    return NACELLE_OK;
}
#endif

/* The sink prints what it is told, and what it may not ask for. */
static void* open_sink(const nacelle_host* host, const char* config) {
    (void)config;
    if (host->get(host, "arrays/1")) return NULL;
    host->log(host, NACELLE_WARNING, host->why(host));
    host->get(host, "nothing/1");
    host->log(host, NACELLE_WARNING, host->why(host));
    return (void*)host;
}
static nacelle_status write(void* self, uint64_t step, const char* const* names, const double* values,
                            uint32_t count) {
    const nacelle_host* const host = self;
    char text[64];
    (void)names, (void)values;
    sprintf(text, "%u values at step %u", (unsigned)count, (unsigned)step);
    host->log(host, NACELLE_WARNING, text);
    return NACELLE_OK;
}
static void close_sink(void* self) { (void)self; }

/* Of an earlier header: without what came later. */
#if GROWN < 0
static const struct {
    uint32_t size;
    void* (*create)(const nacelle_host*, const char*);
    nacelle_status (*write)(void*, uint64_t, const char* const*, const double*, uint32_t);
    nacelle_status (*flush)(void*);
    void (*destroy)(void*);
} sink = {offsetof(nacelle_sink, rewind), open_sink, write, NULL, close_sink};
static const struct {
    uint32_t size;
    void* (*create)(const nacelle_host*, const char*);
    const nacelle_learner_facts* (*facts)(void*);
    nacelle_status (*record)(void*, void*);
    nacelle_status (*act)(void*, uint32_t, uint32_t, const nacelle_first_episodes*, void*);
    void (*destroy)(void*);
} learner = {offsetof(nacelle_learner, metrics), create, facts, record, act, destroy};
#else
static const STRUCT(nacelle_sink) sink = {
    .known = {SIZE(nacelle_sink, ), open_sink, write, NULL, close_sink, NULL}};
static const STRUCT(nacelle_learner) learner = {
    .known = {SIZE(nacelle_learner, ), create, facts, record, act, destroy, metrics}};
#endif

const nacelle_manifest nacelle_plugin = {NACELLE_PLUGIN_MAGIC,
                                         sizeof(nacelle_manifest),
                                         NACELLE_ABI,
                                         "test.plain",
                                         "1",
                                         "A plugin in C",
                                         2,
                                         {{"sink/1", "plain"}, {"learner/1", "plain"}}};
const void* nacelle_plugin_get(const char* kind, const char* name) {
    (void)name;
    return strcmp(kind, "sink/1") == 0 ? (const void*)&sink : (const void*)&learner;
}
