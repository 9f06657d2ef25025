#ifndef NACELLE_PLUGIN_ABI_H
#define NACELLE_PLUGIN_ABI_H
/* The boundary between the host and a plugin, in C. The C++ face is in sink.h, hook.h and learner.h
 * beside this file.
 *
 * A plugin is a shared object with a data symbol `nacelle_plugin` (the manifest below) and a function
 * `nacelle_plugin_get`. The host reads the manifest from the ELF file and opens the library only
 * after that passed: listing plugins never runs their code.
 *
 * Sizes. A struct that crosses begins with its own size and grows at its end. The size says what its
 * writer knows: either side reads a member only where the size covers it, and a member that it does not
 * cover is 0 or null. What 0 or null means stands beside the member.
 *
 * Rules. Strings are UTF-8 and end in 0. Every call carries its instance. Nobody owns what a call gives
 * him longer than its comment says. No exception crosses: say why by fail(), then return an error.
 *
 * Marks. Each function has one, [thread | phases]: where it may be called, or where the host calls it.
 * Threads: `loop`, the thread that runs the training loop, within a call of the host's to this instance
 * and by one caller at a time; or `any`. Phases: `create` is create() or loaded(); `record` is record()
 * under the host's capture, where nothing allocates or waits; `running` is every other call; or `any`. */
#include <nacelle/plugin/schema.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NACELLE_ABI 2u /* another number is refused; within one, structs only grow */
#define NACELLE_PLUGIN_MAGIC "nacelle"
#define NACELLE_PLUGIN_EXPORT __attribute__((visibility("default")))

typedef enum nacelle_status { NACELLE_OK = 0, NACELLE_ERROR = 1 } nacelle_status;
typedef enum nacelle_level {
    NACELLE_DEBUG,
    NACELLE_INFO,
    NACELLE_WARNING,
    NACELLE_FAILURE
} nacelle_level;

/* One thing that a plugin offers: of a kind with its revision, under the name that a configuration uses.
 * It does not grow: what else there is to say of an offer stands in its table. */
typedef struct nacelle_offer {
    char kind[32]; /* "sink/1", "hook/1", "learner/1", "communicator/1" */
    char name[32]; /* "csv" */
} nacelle_offer;

/* Fixed characters and numbers, no pointers: it is read from the file without opening the library. */
typedef struct nacelle_manifest {
    char magic[8]; /* NACELLE_PLUGIN_MAGIC */
    uint32_t size; /* of this struct as the plugin knows it */
    uint32_t abi;  /* NACELLE_ABI */
    char id[64];   /* "nacelle.csv": one of an id is loaded at a time */
    char version[32];
    char description[128];
    uint32_t offers;
    nacelle_offer offer[16];
} nacelle_manifest;

/* What the host offers to every plugin. One of these belongs to one instance of one plugin, and lives
 * until its destroy() has returned. */
typedef struct nacelle_host nacelle_host;
struct nacelle_host {
    uint32_t size;
    void* self;
    /* [any | any] */
    void (*log)(const nacelle_host*, nacelle_level, const char* text);
    /* [any | any] Says why the call that is running will return an error. */
    void (*fail)(const nacelle_host*, const char* text);
    /* [loop | any] Why this host last returned an error or null to this instance: a sentence, valid until
     * the next call. */
    const char* (*why)(const nacelle_host*);
    /* [loop | any] One of the services below, by its name: a table that lives as long as the host. Null
     * where this host does not know it or does not offer it to this instance. Sinks are offered none. */
    const void* (*get)(const nacelle_host*, const char* name);
};

/* A stream is null for the host's own; under record() pass on the one given. */

/* What kernels around an environment need to know of it. */
typedef struct nacelle_environment {
    uint32_t size;
    uint32_t envs;
    const char* name;
    const nacelle_schema* schema; /* this and the name stay readable as long as the instance */
    uint64_t seed;
    uint32_t on_gpu;
    uint32_t time_limit;
    uint32_t compute; /* a GPU's capability: 90 for sm_90; 0 on a CPU */
    uint64_t version; /* grows when the environment was reloaded: kernels are then others */
    uint32_t drafts;  /* 1: a save may first run drafts of programs, see program() */
} nacelle_environment;

/* A named array in the device's memory: a view, never owned. */
typedef struct nacelle_array {
    uint32_t size;
    uint32_t dtype; /* nacelle_dtype */
    void* data;     /* of the device */
    uint32_t rank;
    int64_t shape[8];
} nacelle_array;

/* "environment/1", for hooks and learners. */
typedef struct nacelle_environment_service {
    uint32_t size;
    /* [loop | any] */
    nacelle_status (*describe)(const nacelle_host*, nacelle_environment* out);
    /* [loop | any] */
    nacelle_status (*array)(const nacelle_host*, const char* name, nacelle_array* out);
} nacelle_environment_service;

/* "arrays/1", for hooks and learners. */
typedef struct nacelle_arrays_service {
    uint32_t size;
    /* [loop | create, running] A zeroed array of the plugin's under "plugin.name". What is persistent is part
     * of checkpoints: 1 where it is the same on all ranks, 2 where its first dimension runs over the environments,
     * or over rows of them, of this rank, 3 where its second dimension does. */
    nacelle_status (*create)(const nacelle_host*, const char* name, uint32_t dtype, uint32_t rank,
                             const int64_t* shape, uint32_t persistent, nacelle_array* out);
    /* [loop | create, running] Host memory to the device; waits. */
    nacelle_status (*write)(const nacelle_host*, void* target, const void* source, uint64_t bytes);
    /* [loop | create, running] The device's memory to the host; waits. */
    nacelle_status (*read)(const nacelle_host*, void* target, const void* source, uint64_t bytes);
} nacelle_arrays_service;

/* A header of a program, in memory. In an array of them all have the size of the first. */
typedef struct nacelle_header {
    uint32_t size;
    const char* name; /* as included */
    const char* text;
} nacelle_header;

/* A compiled kernel. `function` is the host's business; 0: the draft that runs leaves it out, or has it alone. */
typedef struct nacelle_kernel {
    uint32_t size;
    uint32_t program;
    uint64_t function;
    uint32_t registers, local_bytes, shared_bytes, max_threads;
} nacelle_kernel;

/* How items are cut into blocks; on a CPU a kernel is called with ranges of the same blocks. */
typedef struct nacelle_launch {
    uint32_t size;
    uint32_t threads; /* of a block; 0: 128 */
    uint64_t items;
    uint32_t items_per_block; /* 0: as many as threads */
    uint32_t shared_bytes;    /* dynamic memory of a block */
} nacelle_launch;

/* "kernels/1", for hooks and learners. */
typedef struct nacelle_kernels_service {
    uint32_t size;
    /* [loop | create, running] Compiles: the author's file, the headers from memory, then the
     * instantiation's text. It begins to, on a thread of its own: ask for all programs, and they compile
     * side by side. The number it gives stays valid over reloads. `defines` are "NAME=VALUE". A save may
     * first run a draft of it, compiled with NACELLE_DRAFT defined: its text may then have other kernels. Each
     * program has a draft or none; record(), which is called again, looks up which. */
    nacelle_status (*program)(const nacelle_host*, const char* instantiation,
                              const nacelle_header* headers, uint32_t header_count,
                              const char* const* defines, uint32_t define_count, uint32_t* out);
    /* [loop | any] The first one of a program waits for it and says what does not compile, which is not
     * possible in record(). A call that asked for a program and for none of its kernels ends with that. */
    nacelle_status (*kernel)(const nacelle_host*, uint32_t program, const char* symbol,
                             nacelle_kernel* out);
    /* [loop | any] Puts the kernel on the stream; `args` are copied. */
    nacelle_status (*launch)(const nacelle_host*, const nacelle_kernel*, const nacelle_launch*,
                             const void* args, uint32_t bytes, void* stream);
    /* [loop | any] The same for a NACELLE_ENV_KERNEL, over all environments, with the threads and the
     * memory that they want for each. */
    nacelle_status (*launch_environments)(const nacelle_host*, const nacelle_kernel*,
                                          const void* args, uint32_t bytes, void* stream);
    /* [loop | create, running] program() for kernels that need no more of the environment than its sizes:
     * groups, agents, policies, observations, actions, masks, turns. A stand-in that has them and does
     * nothing takes the place of the author's file, so that neither a save nor another environment of these
     * sizes compiles it again. Its view has the head, and the arrays of actions, observations, masks, turns,
     * rewards and ends; no state and no parameters. launch_environments() refuses its kernels. Null: this
     * host has program() alone. */
    nacelle_status (*program_of_sizes)(const nacelle_host*, const char* instantiation,
                                       const nacelle_header* headers, uint32_t header_count,
                                       const char* const* defines, uint32_t define_count,
                                       uint32_t* out);
} nacelle_kernels_service;

/* "clock/1", for hooks and learners. */
typedef struct nacelle_clock_service {
    uint32_t size;
    /* [loop | any] Moves the environment's clock: every launch that draws numbers needs ticks of its own. */
    nacelle_status (*advance)(const nacelle_host*, uint64_t ticks, void* stream);
    /* [loop | any] All environments begin a new episode at the clock's tick, which then moves by one. */
    nacelle_status (*restart)(const nacelle_host*, void* stream);
} nacelle_clock_service;

/* "tables/1", for hooks. */
typedef struct nacelle_tables_service {
    uint32_t size;
    /* [loop | create] Replaces the data of a Table of the environment's Params; dtype and shape must match. */
    nacelle_status (*replace)(const nacelle_host*, const char* param, uint32_t dtype, uint32_t rank,
                              const int64_t* shape, const void* data);
} nacelle_tables_service;

/* How numbers of several ranks become one. */
typedef enum nacelle_reduction { NACELLE_SUM, NACELLE_MAX } nacelle_reduction;

/* The processes that train together, each with environments of its own. */
typedef struct nacelle_ranks {
    uint32_t size;
    uint32_t rank;  /* of this one, from 0 on */
    uint32_t ranks; /* of all; 1: it trains alone */
    uint32_t peers; /* 1: kernels of each reach memory of all, which peer_memory() gives; else 0 */
} nacelle_ranks;

/* Memory in which kernels of all ranks read and write; there are at most so many. */
#define NACELLE_MOST_PEERS 16
typedef struct nacelle_peers {
    uint32_t size;
    uint32_t rank, ranks; /* as in nacelle_ranks */
    /* Not 0 once the host ends the run, as kernels of this rank see it: nobody may come any more, and whoever
     * waits in a kernel for another rank stops waiting. */
    const uint32_t* ended;
} nacelle_peers;

/* "ranks/1", for learners. */
typedef struct nacelle_ranks_service {
    uint32_t size;
    /* [loop | any] */
    nacelle_status (*describe)(const nacelle_host*, nacelle_ranks* out);
    /* [loop | record, running] Puts on the stream: `count` numbers, f32 or f64, in the device's memory become
     * those of all ranks together, the same bits everywhere. All ranks make the same calls in the same order.
     * With one rank nothing happens. */
    nacelle_status (*all_reduce)(const nacelle_host*, void* data, uint64_t count, uint32_t dtype,
                                 uint32_t reduction, void* stream);
    /* [loop | create] So many zeroed bytes of every rank, for kernels of all; they live as long as this instance.
     * `addresses`, in the device's memory, gets where that of each rank lies for kernels of this one, before the first
     * of them runs. All ranks ask for the same in the same order. An error where nacelle_ranks has no `peers`.
     * Null: there are none. */
    nacelle_status (*peer_memory)(const nacelle_host*, uint64_t bytes, void** addresses,
                                  nacelle_peers* out);
} nacelle_ranks_service;

/* communicator/1: connects the ranks of a run. */
typedef struct nacelle_communicator {
    uint32_t size;
    /* [loop | create] Waits until all ranks are there. `config` is a JSON object: "rank", "ranks", "local_rank",
     * "address" and "port" of rank 0, "on_gpu". Null on failure. */
    void* (*create)(const nacelle_host*, const char* config);
    /* [loop | record, running] As in "ranks/1". On a GPU it is put on the stream, also under capture; on a CPU,
     * where there are no streams, it has happened when the call returns, and the phase is always `running`. */
    nacelle_status (*all_reduce)(void* self, void* data, uint64_t count, uint32_t dtype,
                                 uint32_t reduction, void* stream);
    /* [loop | record, running] The bytes of rank `from` become those of all. */
    nacelle_status (*broadcast)(void* self, void* data, uint64_t bytes, uint32_t from,
                                void* stream);
    /* [loop | running] */
    void (*destroy)(void* self);
    /* [any | any] Whether a sum that was begun can still come: else an error, and why in `text`, which ends with a 0 within
     * `bytes`. Null: it cannot tell. */
    nacelle_status (*fault)(void* self, char* text, uint32_t bytes);
} nacelle_communicator;

/* "plugins/1", for hooks and learners. */
typedef struct nacelle_plugins_service {
    uint32_t size;
    /* [loop | create] What a plugin offers under this kind and name: the table of its nacelle_plugin_get(), which lives as
     * long as this instance. The kind may be one that the host itself does not know. */
    nacelle_status (*offer)(const nacelle_host*, const char* kind, const char* name,
                            const void** out);
} nacelle_plugins_service;

/* sink/1: where metrics go. */
typedef struct nacelle_sink {
    uint32_t size;
    /* [loop | create] `config` is a JSON object: the sink's settings, and the run's directory as "out".
     * Null on failure. */
    void* (*create)(const nacelle_host*, const char* config);
    /* [loop | running] */
    nacelle_status (*write)(void* self, uint64_t step, const char* const* names,
                            const double* values, uint32_t count);
    /* [loop | running] What was written is to be on its way to the disk. Null: it always is. */
    nacelle_status (*flush)(void* self);
    /* [loop | running] */
    void (*destroy)(void* self);
    /* [loop | running] The run goes on from this step: what was written for later ones will be written
     * again. It comes before the first write. Null: nobody minds. */
    nacelle_status (*rewind)(void* self, uint64_t step);
} nacelle_sink;

/* hook/1: prepares an environment after it was loaded, before its first reset: tables, first of all. */
typedef struct nacelle_hook {
    uint32_t size;
    /* [loop | create] `config` is what the configuration's hooks.NAME holds; relative paths start at
     * `folder`. */
    nacelle_status (*loaded)(const nacelle_host*, const char* config, const char* folder);
} nacelle_hook;

/* learner/1: turns an environment's rollouts into a policy. */
/* What is known of a learner once it was created. */
typedef struct nacelle_learner_facts {
    uint32_t size;
    /* 0: the host captures record() and replays what it put on the stream. 1: the host calls record() for
     * each iteration, and it launches by itself. */
    uint32_t captures_itself;
    uint64_t steps_per_iteration; /* of all environments together; never 0 */
    uint32_t most_steps;          /* that one act() can take; 0: it only writes actions */
    const char*
        settings; /* all with their defaults, a JSON object as create() takes it; null: not told */
    const char*
        policies; /* how each policy acts, a JSON object as docs/policies.md has it; null: not told */
    /* 1: act() with 0 steps may be given a `first`, whose `envs` alone count, and then acts for these. */
    uint32_t acts_for_some;
} nacelle_learner_facts;

/* What an evaluation keeps of the first episode of each of the first `envs` environments. */
typedef struct nacelle_first_episodes {
    uint32_t size;
    uint32_t envs;
    double* returns;
    int32_t* lengths;
    uint8_t* over; /* 0 until an episode has ended and been noted; then 1 */
} nacelle_first_episodes;

typedef struct nacelle_learner {
    uint32_t size;
    /* [loop | create] Makes its programs and arrays. `config` is the configuration's learner object, with
     * the configuration's policies under "policies" where it has some. Null on failure. */
    void* (*create)(const nacelle_host*, const char* config);
    /* [loop | running] Valid until destroy(). */
    const nacelle_learner_facts* (*facts)(void* self);
    /* [loop | record] Puts one whole iteration on the stream, which is then replayed. It is called again
     * when a program was rebuilt. The phase is `running` for a learner that captures itself. */
    nacelle_status (*record)(void* self, void* stream);
    /* [loop | running] With 0 steps: writes the action arrays of all rows from the current observations, or,
     * with a `first`, at least those of its first `envs` environments. With 1 to most_steps steps: as many
     * times that and a step of all environments, and nothing is learnt. An environment whose `over` is 0 goes
     * on with the episode that its arrays tell of; where that ends, it is noted. The host moves the clock. */
    nacelle_status (*act)(void* self, uint32_t greedy, uint32_t steps,
                          const nacelle_first_episodes* first, void* stream);
    /* [loop | running] */
    void (*destroy)(void* self);
    /* [loop | running] Names and values of its metrics, valid until the next call; it may wait. Null: none. */
    nacelle_status (*metrics)(void* self, const char* const** names, const double** values,
                              uint32_t* count);
} nacelle_learner;

extern NACELLE_PLUGIN_EXPORT const nacelle_manifest nacelle_plugin;
/* [loop | any] The table of an offer, or null. It lives as long as the library. */
extern NACELLE_PLUGIN_EXPORT const void* nacelle_plugin_get(const char* kind, const char* name);

#ifdef __cplusplus
}
#endif
#endif
