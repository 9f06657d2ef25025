#ifndef NACELLE_PLUGIN_SCHEMA_H
#define NACELLE_PLUGIN_SCHEMA_H
/* What an environment is made of, in C: its groups, its policies and every array by name. These are the structs of
 * nacelle/schema.h, which schema_view.h holds to them member by member. The structs grow at their end: a reader goes
 * by header_size and field_size, as nacelle_field_at() does. */
#include <stdint.h>

typedef enum nacelle_dtype {
    NACELLE_F32,
    NACELLE_F64,
    NACELLE_I32,
    NACELLE_U32,
    NACELLE_I64,
    NACELLE_U64,
    NACELLE_I16,
    NACELLE_U16,
    NACELLE_I8,
    NACELLE_U8,
    NACELLE_B8
} nacelle_dtype;
typedef enum nacelle_role {
    NACELLE_ROLE_PARAM,
    NACELLE_ROLE_STATE,
    NACELLE_ROLE_AGENT,
    NACELLE_ROLE_ACTION,
    NACELLE_ROLE_OBS,
    NACELLE_ROLE_FINAL_OBS,
    NACELLE_ROLE_MASK,
    NACELLE_ROLE_REWARD,
    NACELLE_ROLE_TURN,
    NACELLE_ROLE_ENDED,
    NACELLE_ROLE_TERMINATED,
    NACELLE_ROLE_TRUNCATED,
    NACELLE_ROLE_LOG,
    NACELLE_ROLE_GLOBAL,
    NACELLE_ROLE_EPISODE,
    NACELLE_ROLE_TOTAL,
    NACELLE_ROLE_PLUGIN,
    NACELLE_ROLE_BIN
} nacelle_role;
typedef enum nacelle_kind {
    NACELLE_KIND_VALUE,
    NACELLE_KIND_DISCRETE,
    NACELLE_KIND_CONTINUOUS,
    NACELLE_KIND_ARRAY,
    NACELLE_KIND_TABLE
} nacelle_kind;
/* What an array has one element for: all, an environment, an agent's row, 32 environments. */
typedef enum nacelle_per {
    NACELLE_PER_ALL,
    NACELLE_PER_ENV,
    NACELLE_PER_ROW,
    NACELLE_PER_GROUP
} nacelle_per;
typedef enum nacelle_layout { NACELLE_COLUMNS, NACELLE_ROWS } nacelle_layout;

typedef struct nacelle_field {
    char name[96];          /* "state.pos.x", "obs", "governor.action.level" */
    uint8_t role;           /* nacelle_role */
    uint8_t kind;           /* nacelle_kind */
    uint8_t dtype;          /* nacelle_dtype */
    uint8_t group;          /* whose, for what agents have */
    uint8_t per;            /* nacelle_per */
    uint8_t layout;         /* nacelle_layout: [count][rows] or [rows][count] */
    uint8_t kept;           /* part of a snapshot and of a checkpoint */
    uint8_t varied;         /* of a param: drawn at each reset */
    uint32_t rank, dims[4]; /* of the elements of one row */
    uint32_t count;         /* product of dims */
    int32_t slot;           /* the host's */
    uint32_t offset, step;  /* of a param: bytes in Params; strides[rank - 1] */
    int32_t choices;        /* of a discrete one */
    float low, high;        /* of a continuous one */
    double initial;         /* of a param */
    uint32_t strides[4];    /* of a param: bytes between neighbours along each of dims */
} nacelle_field;

typedef struct nacelle_group {
    char name[64];
    uint32_t count; /* agents of this group in one environment */
    uint32_t obs_width, mask_width, action_parts, has_turn;
} nacelle_group;

/* Agents for which one network decides. */
typedef struct nacelle_policy {
    char name[64];
    uint32_t agents, group;
} nacelle_policy;

typedef struct nacelle_schema {
    uint32_t magic, revision, header_size, field_size;
    char name[64];
    uint32_t fields, slots, groups;
    uint32_t agents;     /* rows of one environment, over all groups */
    uint32_t time_limit; /* 0: none */
    uint32_t is_team, has_turn, has_log, has_global, has_prepare, has_draw, has_image;
    uint32_t params_size;
    uint32_t view_size, head_size, params_offset, array_offset, pool_offset; /* the host's */
    uint32_t most_threads;
    nacelle_group group[4];
    uint64_t layout; /* hash of all that a checkpoint depends on */
    uint64_t spaces; /* hash of all that a policy depends on */
    uint32_t policies;
    nacelle_policy policy[8];
    uint32_t block_threads, env_threads, shared_bytes, workspace_bytes,
        cluster_blocks; /* the host's */
} nacelle_schema;

/* One of `fields`. */
static inline const nacelle_field* nacelle_field_at(const nacelle_schema* schema, uint32_t i) {
    const char* const first = (const char*)schema + schema->header_size;
    return (const nacelle_field*)(const void*)(first + (uint64_t)i * schema->field_size);
}

#endif
