#include "engine/supervised/child.h"

#include "engine/base/process.h"
#include "engine/supervised/lines.h"
#include "tests/support/processes.h"

#include <chrono>
#include <csignal>
#include <doctest/doctest.h>
#include <string>
#include <thread>
#include <vector>

using namespace nacelle;
using namespace nacelle::test;

namespace {

// What a script says on the channel, which is descriptor 3, and what it prints.
struct Followed {
    ChildEnd end;
    std::vector<std::string> said;
    std::string printed;
    pid_t process = 0;
};

Followed follow(const std::string& script, double silence = 20, const std::string& sent = {}) {
    Followed found;
    found.end = run_child({"/bin/sh", "-c", script}, silence,
                          {.started =
                               [&](pid_t process, int channel) {
                                   found.process = process;
                                   if (!sent.empty()) send_text(channel, sent);
                               },
                           .said =
                               [&](const std::string& line) {
                                   found.said.push_back(line);
                                   return silence;
                               },
                           .printed = [&](const std::string& text) { found.printed += text; }});
    return found;
}

}

TEST_CASE("what a child prints is never what it says") {
    const Followed found = follow("echo '{\"done\":true}'; echo 'pid 1'; echo 'status bad' >&2;"
                                  "echo word >&3; printf 'no end'");
    CHECK(found.said == std::vector<std::string>{"word"});
    CHECK(found.printed == "{\"done\":true}\npid 1\nstatus bad\nno end\n");
    CHECK(found.end.how == ChildEnd::exited);
    CHECK(found.end.status == 0);
}

TEST_CASE("a child gets the number of its channel as its last argument, and what is sent there") {
    const Followed found =
        follow("read -r line <&3; echo \"$0 $line $$\" >&3; exit 4", 20, "hello\n");
    REQUIRE(found.said.size() == 1);
    CHECK(found.said[0] == "3 hello " + std::to_string(found.process));
    CHECK(found.end.status == 4);
}

TEST_CASE("a child's signal is told, with what it said before") {
    const Followed found = follow("echo one >&3; kill -SEGV $$");
    CHECK(found.said == std::vector<std::string>{"one"});
    CHECK(found.end.how == ChildEnd::killed_by_signal);
    CHECK(found.end.status == SIGSEGV);
}

TEST_CASE(
    "prints are no sign of life: a child that says nothing is stuck, and dies with its children") {
    const auto start = std::chrono::steady_clock::now();
    const Followed found = follow(
        "trap '' USR1; (while :; do echo noise; sleep 0.1; done) & while :; do sleep 0.1; done",
        0.5);
    CHECK(found.end.how == ChildEnd::stuck);
    CHECK(found.printed.find("noise") != std::string::npos);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(15));
    for (int i = 0; i < 500 && !has_ended_with_its_group(found.process); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(has_ended_with_its_group(found.process));
}

TEST_CASE("the end of a child is its own: who holds its descriptors for longer is not waited for") {
    const auto start = std::chrono::steady_clock::now();
    const Followed found = follow("setsid sleep 20 & echo last >&3");
    CHECK(found.said == std::vector<std::string>{"last"});
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
}
