#include "engine/base/files.h"
#include "engine/compile/compilable_path.h"

#include <chrono>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <unistd.h>

// Programs of a version that was saved over are compiled from a copy in the cache.
namespace fs = std::filesystem;
using namespace nacelle;

TEST_CASE("a copy that is in use stays when a full cache makes room, an old one goes") {
    const fs::path directory =
        fs::temp_directory_path() / ("nacelle-copies-" + std::to_string(::getpid()));
    RunsOn on;
    on.cache = std::make_shared<Cache>(directory, 100);
    const std::string text(1000, 'x');
    const std::vector<SourceFile> first{{"/nowhere/one.cu", text}, {"/nowhere/part/of_it.h", text}},
        second{{"/nowhere/two.cu", text}};
    const fs::path used = copied_path(on, first), old = copied_path(on, second);
    for (const fs::path& copy : {used, old})
        fs::last_write_time(copy.parent_path(),
                            fs::file_time_type::clock::now() - std::chrono::hours(1));
    CHECK(copied_path(on, first) == used);    // used again
    REQUIRE(on.cache->keep("key", text));
    CHECK(read_file(used) == text);
    CHECK(read_file(used.parent_path() / "part" / "of_it.h") == text);
    CHECK_FALSE(fs::exists(old));
    CHECK(read_file(copied_path(on, second)) == text);
    fs::remove_all(directory);
}
