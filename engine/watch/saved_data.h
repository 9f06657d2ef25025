#pragma once
#include "engine/env/environment.h"
#include "engine/watch/data_files.h"

namespace nacelle {

// The settings of a watched environment, where they are read from and how.
struct SettingsFiles {
    std::vector<std::filesystem::path> files = {};    // ENV.json, and what --config names
    std::function<Json()> read = {};    // the whole configuration; throws where a file is wrong
};

// Takes saves of an environment's tables and settings into the running version.
class SavedData final {
public:
    // One file that was saved, and what has become of it.
    struct Taken {
        std::string text;         // a sentence for the viewer
        bool wrong = false;       // nothing was changed
        bool restarts = false;    // its episodes must begin anew
    };

    explicit SavedData(SettingsFiles settings);
    // To be called between two steps, and cheap where nothing was saved. Sets parameters and tables.
    std::vector<Taken> take(Environment& env);

private:
    Taken take_table(Environment& env, const std::filesystem::path& file);
    Taken take_settings(Environment& env, const std::filesystem::path& file);

    SettingsFiles settings_;
    Json known_;    // the configuration that runs
    DataFiles data_;
};

// The .npy files of a configuration's parameters, by the names of the parameters.
std::map<std::string, std::filesystem::path> table_files(const Json& params,
                                                         const std::filesystem::path& source);

}
