#include "engine/base/log.h"

#include <doctest/doctest.h>
#include <string>
#include <utility>
#include <vector>

using namespace nacelle;

TEST_CASE("a log hands every message with its level to its writer") {
    std::vector<std::pair<LogLevel, std::string>> lines;
    const Log log(
        [&](LogLevel level, const std::string& text) { lines.emplace_back(level, text); });
    log.info("one");
    log.warn("two");
    log.write(LogLevel::debug, "three");
    REQUIRE(lines.size() == 3);
    CHECK(lines[0] == std::pair(LogLevel::info, std::string("one")));
    CHECK(lines[1] == std::pair(LogLevel::warning, std::string("two")));
    CHECK(lines[2] == std::pair(LogLevel::debug, std::string("three")));
}

TEST_CASE("a log with no writer is silent") { Log(Log::Writer()).warn("nobody hears"); }
