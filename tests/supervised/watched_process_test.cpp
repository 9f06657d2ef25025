#include "engine/watch/process.h"

#include <chrono>
#include <doctest/doctest.h>
#include <string>
#include <thread>

using namespace nacelle;

namespace {

// Asks for pictures without a pause, at each moment of the process's start, until there is one.
bool shows_a_picture(WatchedProcess& process, const Sections& sections) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < end) {
        process.look();
        if (sections.section("picture") != "null") return true;
        std::this_thread::yield();
    }
    return false;
}

}

TEST_CASE("a page that looks before the process runs gets its picture") {
    const std::string script = "while read -r line <&3; do case $line in "
                               "look) echo 'picture {}' >&3 ;; *quit*) exit 0 ;; esac; done";
    Sections sections;
    WatchedProcess process(
        sections,
        {.command = {"/bin/sh", "-c", script}, .author = "/nowhere.cu", .first_commands = {}});
    CHECK(shows_a_picture(process, sections));
}
