#include "engine/compile/schema.h"
#include "tests/env/workbench.h"

#include <cstring>
#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

using Pond = Schema<5>;

Field field_of(const char* name, Role role, Per per, int slot) {
    Field field{};
    std::strcpy(field.name, name);
    field.role = role;
    field.per = per;
    field.slot = slot;
    field.count = 1;
    return field;
}

// What a compiler would make of a small environment: a number, a list and a table of Params, a state and
// what two agents see.
Pond sound() {
    Pond table{};
    Header& h = table.header;
    h.magic = schema_magic;
    h.revision = schema_revision;
    h.header_size = sizeof(Header);
    h.field_size = sizeof(Field);
    std::strcpy(h.name, "Pond");
    h.fields = std::size(table.fields);
    h.slots = 2;
    h.groups = h.policies = 1;
    std::strcpy(h.group[0].name, "frog");
    h.group[0].count = h.policy[0].agents = h.agents = 2;
    std::strcpy(h.policy[0].name, "frog");
    h.params_size = 48;
    h.params_offset = h.head_size = 64;
    h.array_offset = 112;
    h.pool_offset = 128;
    h.view_size = 144;
    h.block_threads = 128;
    h.env_threads = h.cluster_blocks = 1;
    Field& list = table.fields[1] = field_of("param.list", Role::param, Per::all, -1);
    list.rank = 1;
    list.dims[0] = list.count = 3;
    list.offset = 4;
    list.step = list.strides[0] = 4;
    Field& rows = table.fields[2] = field_of("param.rows", Role::param, Per::all, -1);
    rows.kind = Kind::table;
    rows.rank = 2;
    rows.dims[1] = 3;
    rows.count = 0;
    rows.offset = 16;
    table.fields[0] = field_of("param.scale", Role::param, Per::all, -1);
    table.fields[3] = field_of("state.x", Role::state, Per::env, 0);
    Field& obs = table.fields[4] = field_of("obs", Role::obs, Per::row, 1);
    obs.layout = Layout::rows;
    obs.rank = 1;
    obs.dims[0] = obs.count = 7;
    return table;
}

std::string words(const Pond& table, size_t bytes = sizeof(Pond)) {
    const std::span all(reinterpret_cast<const std::byte*>(&table), bytes);
    return complaint([&] { EnvSchema(all, "pond.so"); });
}

// The words about a table in which one thing is another.
template <class Damage> std::string damaged(Damage damage) {
    Pond table = sound();
    damage(table);
    return words(table);
}

}

TEST_CASE("a table as a compiler makes it is read") {
    const Pond table = sound();
    CHECK(words(table).empty());
    const EnvSchema schema(std::as_bytes(std::span(&table, 1)), "pond.so");
    CHECK(schema.name() == "Pond");
    CHECK(schema.param_names() == std::vector<std::string>{"scale", "list", "rows"});
    CHECK(schema.shape(*schema.find("obs"), 10) == std::vector<int64_t>{20, 7});
    CHECK(schema.bytes_per_env() == 4 + 2 * 7 * 4);
}

TEST_CASE(
    "a table of an earlier revision, whose fields end before their strides, has them by its step") {
    Pond table = sound();
    table.header.field_size = offsetof(Field, strides);
    Field& list = table.fields[1];
    list.rank = 2;
    list.dims[0] = list.count = 3;
    list.dims[1] = 2;
    list.count = 6;
    std::vector<std::byte> bytes(sizeof(Header));
    std::memcpy(bytes.data(), &table.header, sizeof(Header));
    for (const Field& field : table.fields) {
        const auto* const begin = reinterpret_cast<const std::byte*>(&field);
        bytes.insert(bytes.end(), begin, begin + table.header.field_size);
    }
    const EnvSchema schema(bytes, "pond.so");
    const Field& read = *schema.find("param.list");
    for (uint32_t i = 0; i < 6; ++i) CHECK(offset_of(read, i) == 4 + 4 * i);
}

TEST_CASE("a table that is cut anywhere is refused") {
    const Pond table = sound();
    for (size_t bytes = 0; bytes < sizeof table; bytes += 7)
        CHECK_MESSAGE(contains(words(table, bytes), "pond.so"), bytes);
    CHECK(contains(damaged([](Pond& t) { t.header.fields = ~uint32_t(0); }), "cut short"));
    CHECK(contains(damaged([](Pond& t) {
                       t.header.fields = ~uint32_t(0);
                       t.header.field_size = 0;
                   }),
                   "its structs are too short"));
    CHECK(contains(damaged([](Pond& t) { t.header.header_size = 0; }), "too short"));
}

TEST_CASE(
    "a name without an end is refused, and one that lacks what is cut off before it is shown") {
    const std::string field = "pond.so: the environment's table is damaged: a field's name";
    CHECK(contains(damaged([](Pond& t) { std::memset(t.fields[3].name, 'x', 96); }), field));
    CHECK(contains(damaged([](Pond& t) { std::memset(t.header.name, 'x', 64); }), "its name"));
    CHECK(contains(damaged([](Pond& t) { std::memset(t.header.group[0].name, 'x', 64); }),
                   "a group's name"));
    CHECK(contains(damaged([](Pond& t) { std::memset(t.header.policy[0].name, 'x', 64); }),
                   "a policy's name"));
    CHECK(contains(damaged([](Pond& t) { std::strcpy(t.fields[0].name, "p"); }),
                   "the field 'p': its name"));
    CHECK(contains(damaged([](Pond& t) {
                       t.fields[3].role = Role::log;
                       std::strcpy(t.fields[3].name, "\x1b[2J");
                   }),
                   "the field '\\x1b[2J': its name"));
}

TEST_CASE("what lies outside the view, outside Params or in no group is refused") {
    CHECK(contains(damaged([](Pond& t) { t.fields[4].slot = 2; }), "'obs': its slot"));
    CHECK(contains(damaged([](Pond& t) { t.fields[4].slot = -2; }), "'obs': its slot"));
    CHECK(contains(damaged([](Pond& t) { t.fields[4].group = 1; }), "'obs': its group"));
    CHECK(contains(damaged([](Pond& t) { t.header.groups = 5; }), "its number of groups"));
    CHECK(contains(damaged([](Pond& t) { t.header.groups = 0; }), "its number of groups"));
    CHECK(contains(damaged([](Pond& t) { t.header.policies = 9; }), "its number of policies"));
    CHECK(contains(damaged([](Pond& t) { t.header.policy[0].group = 1; }), "a policy's group"));
    CHECK(contains(damaged([](Pond& t) { t.fields[1].offset = 40; }), "'param.list': its place"));
    CHECK(contains(damaged([](Pond& t) { t.fields[1].strides[0] = ~0u; }),
                   "'param.list': its place"));
    CHECK(contains(damaged([](Pond& t) { t.fields[2].offset = 32; }), "'param.rows': its place"));
    for (uint32_t Header::*const part :
         {&Header::view_size, &Header::params_offset, &Header::array_offset, &Header::pool_offset,
          &Header::slots, &Header::params_size})
        CHECK(contains(damaged([&](Pond& t) { t.header.*part = 0x7ffffff8; }), "cannot be right"));
    CHECK(contains(damaged([](Pond& t) { t.header.view_size = 8; }), "the layout of its view"));
    CHECK(contains(damaged([](Pond& t) { t.header.block_threads = 0; }), "launched"));
}

TEST_CASE("sizes that contradict each other or overflow are refused") {
    CHECK(contains(damaged([](Pond& t) { t.fields[4].rank = 5; }), "'obs': its sizes"));
    CHECK(contains(damaged([](Pond& t) { t.fields[4].count = 8; }), "'obs': its sizes"));
    CHECK(contains(damaged([](Pond& t) { t.fields[4].dims[0] = 0; }), "'obs': its sizes"));
    const auto of_four_dims = [](uint32_t size, uint32_t count) {
        return damaged([=](Pond& t) {
            Field& obs = t.fields[4];
            obs.rank = 4;
            std::fill_n(obs.dims, 4, size);
            obs.count = count;
        });
    };
    CHECK(contains(of_four_dims(2, 32), "'obs': its sizes"));
    CHECK(contains(damaged([](Pond& t) { t.fields[3].count = 0; }), "'state.x': its sizes"));
    CHECK(contains(damaged([](Pond& t) { t.fields[2].rank = 0; }), "'param.rows': its sizes"));
    CHECK(contains(damaged([](Pond& t) { t.fields[2].dims[0] = 0x80000000; }), "'param.rows'"));
    CHECK(contains(damaged([](Pond& t) { t.header.group[0].count = ~0u; }), "'obs': its sizes"));
    CHECK(contains(of_four_dims(0x10000, 0), "'obs': its sizes"));
    CHECK(contains(damaged([](Pond& t) {
                       t.fields[3].rank = 1;
                       t.fields[3].dims[0] = t.fields[3].count = 0x7fffffff;
                       t.fields[4] = t.fields[3];
                   }),
                   "the sizes of its fields"));
}

TEST_CASE("what is of no kind that there is is refused") {
    CHECK(contains(damaged([](Pond& t) { t.fields[3].role = Role(18); }), "what it is"));
    CHECK(contains(damaged([](Pond& t) { t.fields[3].kind = Kind(5); }), "what it is"));
    CHECK(contains(damaged([](Pond& t) { t.fields[3].dtype = Dtype(11); }), "what it is"));
    CHECK(contains(damaged([](Pond& t) { t.fields[3].per = Per(4); }), "what it is"));
    CHECK(contains(damaged([](Pond& t) { t.fields[3].layout = Layout(2); }), "what it is"));
    CHECK(contains(damaged([](Pond& t) { t.fields[3].kind = Kind::discrete; }), "its choices"));
    CHECK(contains(damaged([](Pond& t) {
                       t.fields[3].kind = Kind::continuous;
                       t.fields[3].low = 1;
                   }),
                   "its bounds"));
}
