// Tables that the host must not call, and a failure without a word, written against the C header.
#include <nacelle/plugin/manifest.h>

namespace {

void* create(const nacelle_host* host, const char*) { return const_cast<nacelle_host*>(host); }
nacelle_status write(void*, uint64_t, const char* const*, const double*, uint32_t) {
    return NACELLE_ERROR;
}
nacelle_status flush(void*) { return NACELLE_OK; }
void destroy(void*) {}
nacelle_status rewind(void*, uint64_t) { return NACELLE_OK; }

constexpr nacelle_sink short_table{8, create, write, flush, destroy, rewind};
constexpr nacelle_sink table_with_hole{
    sizeof(nacelle_sink), create, nullptr, flush, destroy, rewind};
constexpr nacelle_sink silent_table{sizeof(nacelle_sink), create, write, flush, destroy, rewind};

#define SINK(type, its_name, its_table)                                                            \
    struct type {                                                                                  \
        static constexpr const char* kind = "sink/1";                                              \
        static constexpr const char* name = its_name;                                              \
        static const void* table() { return its_table; }                                           \
    };
SINK(Short, "short", &short_table)
SINK(Hole, "hole", &table_with_hole)
SINK(Silent, "silent", &silent_table)
SINK(Missing, "missing", nullptr)

}

NACELLE_PLUGIN("test.tables", "1", "", Short, Hole, Silent, Missing)
