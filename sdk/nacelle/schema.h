#pragma once
#include <nacelle/platform.h>
// The one table that an environment exports: every array by name, with its type and shape and its
// slot in the view that kernels get. The host reads the same bytes from a cubin and from a shared
// object, without loading either. Structs grow at their end only; a reader goes by header_size and
// field_size.

namespace nacelle {

inline constexpr uint32_t schema_magic = 0x4c43414eu;    // "NACL"
inline constexpr uint32_t schema_revision = 2;
inline constexpr int most_groups = 4, most_policies = 8;
inline constexpr int agents_at_most = 32768;    // of a team, over all groups
inline constexpr int most_dims = 4;             // of a field, and of an Array or a Table

enum class Role : uint8_t {
    param,
    state,
    agent,
    action,
    obs,
    final_obs,
    mask,
    reward,
    turn,
    ended,
    terminated,
    truncated,
    log,
    global,
    episode,
    total,
    plugin,    // made by a plugin: in no schema, only among an environment's arrays
    bin        // where the last sort put an agent, or -1
};
enum class Kind : uint8_t { value, discrete, continuous, array, table };
enum class Dtype : uint8_t { f32, f64, i32, u32, i64, u64, i16, u16, i8, u8, b8 };
// What an array has one element (or one list of elements) for.
enum class Per : uint8_t { all, env, row, group };    // group: 32 environments
// columns: [count][rows], neighbouring environments side by side. rows: [rows][count].
enum class Layout : uint8_t { columns, rows };

inline constexpr uint32_t group_envs = 32;

// The threads that each of so many environments gets of a GPU, 1 << this. A team has those that it asks for; others have
// fewer where there are so many environments that a GPU has work enough: a step of a million Mazes took 1.5 times as long
// with eight threads each, one of 4,096 three times as long with one (H100, 2026-11).
constexpr uint32_t doublings_of_env(uint32_t most_threads, uint64_t envs) {
    constexpr uint64_t enough = 1u << 20;
    uint32_t doublings = 0;
    while (2u << doublings <= most_threads && envs << (doublings + 1) <= enough) ++doublings;
    return doublings;
}
constexpr uint32_t threads_of_env(bool is_team, uint32_t most, uint64_t envs) {
    return is_team ? most : 1u << doublings_of_env(most, envs);
}

struct Field {
    char name[96];    // "state.pos.x", "obs", "governor.action.level"
    Role role;
    Kind kind;
    Dtype dtype;
    uint8_t group;    // whose, for what agents have
    Per per;
    Layout layout;
    uint8_t kept;                      // part of a snapshot and of a checkpoint
    uint8_t varied;                    // Role::param: drawn at each reset, one for each environment
    uint32_t rank, dims[most_dims];    // of the elements of one row: C arrays, an Array, a Table
    uint32_t count;                    // product of dims (a Table with `any`: 0)
    int32_t slot;                      // in View::array, or -1 where nothing is stored
    uint32_t offset, step;    // Role::param: bytes from the start of Params; strides[rank - 1]
    int32_t choices;          // Kind::discrete
    float low, high;          // Kind::continuous
    double initial;           // default of a Role::param
    uint32_t strides[most_dims];    // Role::param: bytes between neighbours along each of dims
};

// Bytes in Params before an element of a param that is no table; the last of dims counts fastest.
constexpr uint64_t offset_of(const Field& param, uint64_t element) {
    uint64_t offset = param.offset;
    for (uint32_t i = param.rank; i-- > 0; element /= param.dims[i])
        offset += element % param.dims[i] * param.strides[i];
    return offset;
}

struct Group {
    char name[64];
    uint32_t count;         // agents of this group in one environment
    uint32_t obs_width;     // numbers in the float vector
    uint32_t mask_width;    // 0 where nothing is ever masked
    uint32_t action_parts;
    uint32_t has_turn;
};

// Agents for which one network decides.
struct Decider {
    char name[64];
    uint32_t agents;    // in one environment
    uint32_t group;     // to which they belong
};

struct Header {
    uint32_t magic, revision, header_size, field_size;
    char name[64];
    uint32_t fields, slots, groups;
    uint32_t agents;        // rows of one environment, over all groups
    uint32_t time_limit;    // 0: none
    uint32_t is_team, has_turn, has_log, has_global, has_prepare, has_draw, has_image;
    uint32_t params_size;
    uint32_t view_size, head_size, params_offset, array_offset, pool_offset;
    uint32_t most_threads;    // a wish for threads per environment, 0: none
    Group group[most_groups];
    uint64_t layout;    // hash of all that a checkpoint or a snapshot depends on
    uint64_t spaces;    // hash of all that a policy depends on
    uint32_t policies;
    Decider policy[most_policies];
    // How a kernel that advances environments is launched: threads of a block, the most threads for each
    // environment (threads_of_env), the dynamic shared memory of a block, and memory for each team that does not fit there.
    uint32_t block_threads, env_threads, shared_bytes, workspace_bytes;
    uint32_t cluster_blocks;    // blocks that work on one environment together
};

template <int N> struct Schema {
    Header header;
    Field fields[N];
};

}
