#pragma once
#include "engine/plugins/learner_instance.h"
#include "engine/plugins/run_hook.h"
#include "engine/run/iteration.h"
#include "tests/env/workbench.h"

#include <doctest/doctest.h>

// What tests of plugins share: the product's plugins and those made for tests.
namespace nacelle::test {

inline const std::filesystem::path product_plugins = build_path("plugins");
inline const std::filesystem::path made_plugins = build_path("tests/plugins");

inline Plugins plugins_of(std::vector<std::filesystem::path> folders) {
    return Plugins(std::move(folders), shared_cache());
}

// Puts a file of this content in a folder, in place of what was there.
inline std::filesystem::path put(const std::filesystem::path& from,
                                 const std::filesystem::path& to) {
    write_file(to, read_file(from));
    return to;
}

}
