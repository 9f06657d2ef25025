#include "engine/base/npy.h"
#include "engine/env/table_form.h"
#include "tests/env/authors.h"
#include "tests/env/workbench.h"

#include <cstring>
#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

NpyArray array_of(const std::vector<float>& values, std::vector<int64_t> shape) {
    NpyArray array{"f32", std::move(shape), std::vector<std::byte>(values.size() * sizeof(float))};
    if (!array.data.empty()) std::memcpy(array.data.data(), values.data(), array.data.size());
    return array;
}
const NpyArray two_rows = array_of({1, 2, 3, 4, 5, 6}, {2, 3});

EnvSettings lookup_settings(const Folder& folder, const Json& table) {
    Json params = Json::object();
    if (!table.is_null()) params["rows"] = table;
    return settings_of(
        {{"source", folder.write("lookup.cu", lookup)}, {"count", 6}, {"params", params}});
}

}

TEST_CASE("a table comes from the .npy file that the configuration names, beside the environment") {
    const Folder folder;
    folder.write("rows.npy", make_npy(two_rows));
    Environment env(cpu(), lookup_settings(folder, "rows.npy"));
    const std::vector<double> obs = numbers(env, "obs");
    for (size_t i = 0; i < 6; ++i) {
        CHECK(obs[4 * i] == 2);
        CHECK(obs[4 * i + 1] == 6);
        CHECK(obs[4 * i + 2] == (i % 2 ? 5 : 2));
        CHECK(obs[4 * i + 3] == 10 * double(i % 5) + 1);    // prepare() filled it
    }
    env.set_param("scale", 10);    // the table stays where it is
    env.step();
    CHECK(numbers(env, "reward") == std::vector<double>{20, 50, 20, 50, 20, 50});
}

TEST_CASE("a table may be replaced by another with more rows") {
    const Folder folder;
    folder.write("rows.npy", make_npy(two_rows));
    Environment env(cpu(), lookup_settings(folder, (folder.path() / "rows.npy").string()));
    env.set_table("rows", array_of({0, 7, 0, 0, 8, 0, 0, 9, 10}, {3, 3}), "a hook");
    env.step();
    CHECK(numbers(env, "reward") == std::vector<double>{7, 8, 9, 7, 8, 9});
    CHECK(numbers(env, "obs")[0] == 3);
    CHECK(numbers(env, "obs")[1] == 10);
}

TEST_CASE("a table that is missing or does not fit is refused with what was found and what it is") {
    const Folder folder;
    folder.write("rows.npy", make_npy(two_rows));
    folder.write("flat.npy", make_npy(array_of({1, 2, 3}, {3})));
    folder.write("wide.npy", make_npy(array_of({1, 2, 3, 4}, {1, 4})));
    folder.write("none.npy", make_npy(array_of({}, {0, 3})));
    folder.write("noise.npy", "no array at all");
    const auto words = [&](const Json& table) {
        return complaint([&] { Environment(cpu(), lookup_settings(folder, table)); });
    };
    CHECK_MESSAGE(
        contains(words(nullptr), "env.params.rows: the table f32 [any, 3] of Lookup needs data"),
        words(nullptr));
    CHECK_MESSAGE(contains(words(3), "env.params.rows: expected the path of a .npy file, found 3"),
                  words(3));
    CHECK_MESSAGE(
        contains(words("flat.npy"), "holds f32 [3]; the table 'rows' of Lookup is f32 [any, 3]"),
        words("flat.npy"));
    CHECK_MESSAGE(
        contains(words("wide.npy"), "holds f32 [1, 4]; the table 'rows' of Lookup is f32 [any, 3]"),
        words("wide.npy"));
    CHECK_MESSAGE(contains(words("none.npy"), "holds no rows for the table 'rows'"),
                  words("none.npy"));
    CHECK_MESSAGE(contains(words("noise.npy"), "noise.npy"), words("noise.npy"));
    CHECK_MESSAGE(contains(words("nowhere.npy"), "nowhere.npy"), words("nowhere.npy"));
    Environment env(cpu(), lookup_settings(folder, "rows.npy"));
    CHECK(contains(complaint([&] { env.set_table("scale", two_rows, "a hook"); }),
                   "is a number, not a table"));
    CHECK(contains(complaint([&] { env.set_param("rows", 3); }), "is a table"));
    CHECK(env.param("rows") == "table");
}

TEST_CASE(
    "a table of more rows than an int counts is refused with the file, the rows and the limit") {
    Field rows{};
    std::strcpy(rows.name, "param.rows");
    rows.role = Role::param;
    rows.kind = Kind::table;
    rows.rank = 2;
    rows.dims[1] = 3;
    const auto words = [&](int64_t count) {
        const std::vector<int64_t> shape{count, 3};
        return complaint([&] { require_table_form(rows, "f32", shape, "Lookup", "rows.npy"); });
    };
    CHECK(words(2147483647).empty());
    CHECK(words(2147483648) == "rows.npy: holds 2147483648 rows for the table 'rows'; a table has "
                               "at most 2147483647");
    CHECK(contains(words(int64_t(1) << 62), "holds 4611686018427387904 rows"));
}
