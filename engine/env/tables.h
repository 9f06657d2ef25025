#pragma once
#include "engine/env/param_values.h"
#include "engine/env/settings.h"

namespace nacelle {

struct NpyArray;

// The largest file of a table.
inline constexpr size_t most_of_a_table = size_t(64) << 30;

// The data of the Tables of an author's Params: read-only, shared by all environments and by successive versions of
// the author's files.
class Tables final {
public:
    // Sets a table's data after a check of its form. `where` names the source of the data.
    void set(RunsOn& on, const Field& field, const NpyArray& data, const std::string& env,
             const std::string& where);
    // Loads the .npy files of the configuration for tables that have no data yet.
    void load(RunsOn& on, const ParamValues& params, const EnvSettings& settings,
              const std::string& env);
    // Shares the data of another version that still fits. Data of prepare() is left out: the new prepare() may fill
    // it differently.
    void share(const Tables& before, const EnvSchema& its, const EnvSchema& mine);
    // Allocates the tables without data, which the author's prepare() fills. Returns whether there are any.
    bool make_room(RunsOn& on, const EnvSchema& schema, const EnvSettings& settings);
    // Writes the addresses of the data into Params.
    void bind(ParamValues& params) const;

private:
    struct Held {
        std::string name;
        std::shared_ptr<Buffer> memory;
        int64_t rows = 0;
        bool prepared = false;    // filled by prepare(), which a reload runs again
    };
    bool has(const std::string& name) const;

    std::vector<Held> held_;
};

}
