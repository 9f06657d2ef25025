#include "engine/supervised/crash_place.h"

#include "engine/supervised/parent.h"

#include <csignal>
#include <cstring>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace nacelle;

TEST_CASE("a crash says in which object it was, whatever its path holds") {
    const auto place = read_crash(Json{{"signal", 11}, {"object", "2f7422e9"}, {"offset", 4711}});
    REQUIRE(place);
    CHECK(place->object == "/t\"\xe9");
    CHECK(place->offset == 4711);
    CHECK_FALSE(read_crash(Json{{"finding", 1}}));
    CHECK_FALSE(read_crash(Json(3)));
    CHECK(read_crash(Json{{"signal", 11}, {"object", 7}, {"offset", "x"}})->object.empty());
    CHECK(read_crash(Json{{"signal", 11}, {"object", "zz"}})->object.empty());
}

TEST_CASE("a process that crashes says so on its channel, behind what it had begun to say") {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        report_crashes(ends[1]);
        if (::write(ends[1], "half", 4) != 4) ::_exit(9);
        ::raise(SIGILL);
        ::_exit(8);
    }
    ::close(ends[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t count; (count = ::read(ends[0], buffer, sizeof buffer)) > 0;)
        text.append(buffer, size_t(count));
    ::close(ends[0]);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    REQUIRE(text.starts_with("half\n{"));
    const auto place =
        read_crash(try_parse_json(text.substr(5, text.rfind('\n') - 5)).value_or(Json()));
    REQUIRE(place);
    CHECK(place->object.find("libc") != std::string::npos);
    CHECK(place->offset > 0);
}
