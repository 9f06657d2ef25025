#ifndef NACELLE_PLUGIN_ABI_H
#define NACELLE_PLUGIN_ABI_H
/* The boundary between the host and a plugin, in C. The C++ face is in sink.h, hook.h and learner.h
 * beside this file.
 *
 * A plugin is a shared object with a data symbol `nacelle_plugin` (the manifest below) and a function
 * `nacelle_plugin_get`. The host reads the manifest from the ELF file and opens the library only
 * after that passed: listing plugins never runs their code.
 *
 * Rules. Strings are UTF-8 and end in 0. A struct that crosses begins with its own size and grows at
 * its end: read a field only where the size covers it. Every call carries its instance. Nobody owns
 * what a call gives him longer than its comment says. No exception crosses: say why by fail(), then
 * return an error. Unless a comment says otherwise every function is called on the thread that runs
 * the training loop, by one caller at a time. */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NACELLE_ABI 1u /* another number is refused; within one, structs only grow */
#define NACELLE_PLUGIN_MAGIC "nacelle"
#define NACELLE_PLUGIN_EXPORT __attribute__((visibility("default")))

typedef enum nacelle_status { NACELLE_OK = 0, NACELLE_ERROR = 1 } nacelle_status;
typedef enum nacelle_level {
    NACELLE_DEBUG,
    NACELLE_INFO,
    NACELLE_WARNING,
    NACELLE_FAILURE
} nacelle_level;

/* One thing that a plugin offers: of a kind with its revision, under the name that a configuration uses. */
typedef struct nacelle_offer {
    char kind[32]; /* "sink/1", "hook/1", "learner/1" */
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
    char built_with[64]; /* a library whose version must match the host's, or empty */
    uint32_t offers;
    nacelle_offer offer[16];
} nacelle_manifest;

/* A named array in the device's memory: a view, never owned. */
typedef struct nacelle_array {
    uint32_t size;
    uint32_t dtype; /* nacelle::Dtype of nacelle/schema.h */
    void* data;     /* of the device */
    uint32_t rank;
    int64_t shape[8];
} nacelle_array;

typedef struct nacelle_header {
    const char* name; /* as included */
    const char* text;
} nacelle_header;

/* A compiled kernel. `function` is the host's business. */
typedef struct nacelle_kernel {
    uint32_t size;
    uint32_t program;
    uint64_t function;
    uint32_t registers, local_bytes, shared_bytes, max_threads;
} nacelle_kernel;

/* How items are cut into blocks; on a CPU a kernel is called with ranges of the same blocks. */
typedef struct nacelle_launch {
    uint32_t size;
    uint32_t threads, items_per_block, shared_bytes;
    uint64_t items;
    uint32_t cooperative;
} nacelle_launch;

/* What kernels around an environment need to know of it. Groups and fields are in `schema`. */
typedef struct nacelle_environment {
    uint32_t size;
    uint32_t envs;
    const char* name;
    const void* schema; /* nacelle::Header and its fields, of nacelle/schema.h */
    uint64_t seed;
    uint32_t on_gpu;
    uint32_t time_limit;
    uint32_t compute; /* a GPU's capability: 90 for sm_90; 0 on a CPU */
} nacelle_environment;

/* What the host offers. One of these belongs to one instance of one plugin, and lives until its
 * destroy() has returned. A stream is null for the host's own; under record() pass on the one given. */
typedef struct nacelle_host nacelle_host;
struct nacelle_host {
    uint32_t size;
    void* self;
    /* Any thread. */
    void (*log)(const nacelle_host*, nacelle_level, const char* text);
    /* Says why the call that is running will return an error. Any thread. */
    void (*fail)(const nacelle_host*, const char* text);

    /* The rest needs an environment: hooks and learners have one, sinks do not (the pointers are null). */
    nacelle_status (*environment)(const nacelle_host*, nacelle_environment* out);
    nacelle_status (*array)(const nacelle_host*, const char* name, nacelle_array* out);
    /* A zeroed array of the plugin's under "plugin.name"; persistent ones are part of checkpoints. */
    nacelle_status (*array_create)(const nacelle_host*, const char* name, uint32_t dtype,
                                   uint32_t rank, const int64_t* shape, uint32_t persistent,
                                   nacelle_array* out);
    /* Host memory to the device and back; both wait. Not within record(). */
    nacelle_status (*write)(const nacelle_host*, void* target, const void* source, uint64_t bytes);
    nacelle_status (*read)(const nacelle_host*, void* target, const void* source, uint64_t bytes);

    /* Compiles: the author's file, the headers from memory, then the instantiation's text. It begins to,
     * on a thread of its own: ask for all programs, and they compile side by side. The number it gives
     * stays valid over reloads. `defines` are "NAME=VALUE". Not within record(). */
    nacelle_status (*program)(const nacelle_host*, const char* instantiation,
                              const nacelle_header* headers, uint32_t header_count,
                              const char* const* defines, uint32_t define_count, uint32_t* out);
    /* The first one of a program waits for it and says what does not compile; a call that asked for a
     * program and for none of its kernels ends with that. */
    nacelle_status (*kernel)(const nacelle_host*, uint32_t program, const char* symbol,
                             nacelle_kernel* out);
    /* Puts the kernel on the stream; `args` are copied. */
    nacelle_status (*launch)(const nacelle_host*, const nacelle_kernel*, const nacelle_launch*,
                             const void* args, uint32_t bytes, void* stream);
    /* Moves the environment's clock: every launch that draws numbers needs ticks of its own. */
    nacelle_status (*advance)(const nacelle_host*, uint64_t ticks, void* stream);
    /* All environments begin a new episode at the clock's tick, which then moves by one. */
    nacelle_status (*restart)(const nacelle_host*, void* stream);
    /* Replaces the data of a Table of the environment's Params; dtype and shape must match. Hooks only. */
    nacelle_status (*table)(const nacelle_host*, const char* param, uint32_t dtype, uint32_t rank,
                            const int64_t* shape, const void* data);
    /* Why this host last returned an error to this instance: a sentence, valid until the next call. Sinks
     * have it too. */
    const char* (*why)(const nacelle_host*);
    /* Puts a NACELLE_ENV_KERNEL on the stream, over all environments, with the threads and the memory that
     * they want for each. */
    nacelle_status (*launch_environments)(const nacelle_host*, const nacelle_kernel*,
                                          const void* args, uint32_t bytes, void* stream);
};

/* sink/1: where metrics go. */
typedef struct nacelle_sink {
    uint32_t size;
    /* `config` is a JSON object; "out" is the run's directory. Null on failure. */
    void* (*create)(const nacelle_host*, const char* config);
    nacelle_status (*write)(void* self, uint64_t step, const char* const* names,
                            const double* values, uint32_t count);
    nacelle_status (*flush)(void* self);
    void (*destroy)(void* self);
    /* The run goes on from this step: what was written for later ones will be written again. It comes
     * before the first write. */
    nacelle_status (*rewind)(void* self, uint64_t step);
} nacelle_sink;

/* hook/1: prepares an environment after it was loaded, before its first reset: tables, first of all. */
typedef struct nacelle_hook {
    uint32_t size;
    /* `config` is what the configuration's hooks.NAME holds; relative paths start at `folder`. */
    nacelle_status (*loaded)(const nacelle_host*, const char* config, const char* folder);
} nacelle_hook;

/* learner/1: turns an environment's rollouts into a policy. */
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
    /* Makes its programs and arrays. `config` is the configuration's learner object, with the
     * configuration's policies under "policies" where it has some. Null on failure. */
    void* (*create)(const nacelle_host*, const char* config);
    /* Environment steps that one iteration takes, over all environments. */
    uint64_t (*steps_per_iteration)(void* self);
    /* Puts one whole iteration on the stream. It runs under the host's capture and is then replayed;
     * it neither allocates nor waits. It is called again when a program was rebuilt. */
    nacelle_status (*record)(void* self, void* stream);
    /* Writes the action arrays of all rows from the current observations. */
    nacelle_status (*act)(void* self, uint32_t greedy, void* stream);
    /* Names and values of its metrics, valid until the next call; it may wait. */
    nacelle_status (*metrics)(void* self, const char* const** names, const double** values,
                              uint32_t* count);
    void (*destroy)(void* self);
    /* All settings with their defaults, as a JSON object of the form that create() takes; valid until
     * destroy(). Null where a learner does not tell. */
    const char* (*settings)(void* self);
    /* Whether play() can be called; null where it never can. */
    uint32_t (*plays)(void* self);
    /* As many times act() and a step of all environments, in fewer launches, and nothing is learnt. An
     * environment whose `over` is 0 goes on with the episode that its arrays tell of; where that ends, it is
     * noted. The clock is the host's to advance. */
    nacelle_status (*play)(void* self, uint32_t greedy, uint32_t steps,
                           const nacelle_first_episodes* first, void* stream);
} nacelle_learner;

extern NACELLE_PLUGIN_EXPORT const nacelle_manifest nacelle_plugin;
/* The table of an offer, or null. It lives as long as the library. */
extern NACELLE_PLUGIN_EXPORT const void* nacelle_plugin_get(const char* kind, const char* name);

#ifdef __cplusplus
}
#endif
#endif
