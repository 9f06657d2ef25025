#include "engine/base/process.h"

#include "engine/base/files.h"
#include "tests/base/helpers.h"
#include "tests/support/processes.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

ProcessResult shell(const std::string& script, const std::atomic<bool>* cancel = nullptr) {
    return run_process({"sh", "-c", script}, cancel);
}

double seconds_of(const auto& call) {
    const auto start = std::chrono::steady_clock::now();
    call();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}

TEST_CASE("a program's status and both of its outputs come back in their order") {
    const ProcessResult result = shell("echo one; echo two >&2; echo three; exit 7");
    CHECK(result.status == 7);
    CHECK(result.output == "one\ntwo\nthree\n");
    CHECK_FALSE(result.cancelled);
}

TEST_CASE("arguments reach the program as they are") {
    CHECK(run_process({"printf", "%s|", "a b", "$HOME", "'\"\n"}).output == "a b|$HOME|'\"\n|");
}

TEST_CASE("more output than a pipe holds comes back whole") {
    const ProcessResult result = shell("head -c 3000000 /dev/zero");
    CHECK(result.status == 0);
    CHECK(result.output == std::string(3000000, '\0'));
}

TEST_CASE("a program that reads its input finds the end at once") {
    CHECK(shell("cat; echo done").output == "done\n");
}

TEST_CASE("a program that dies of a signal has 128 and the signal as its status") {
    CHECK(shell("kill -SEGV $$").status == 128 + SIGSEGV);
    CHECK(shell("kill -KILL $$").status == 128 + SIGKILL);
}

TEST_CASE("a program that closes its outputs early is still waited for") {
    CHECK(shell("exec >&- 2>&-; sleep 0.2; exit 5").status == 5);
}

TEST_CASE("a child left in the background is not waited for") {
    ProcessResult result;
    CHECK(seconds_of([&] { result = shell("sleep 5 & echo started"); }) < 4);
    CHECK(result.output == "started\n");
}

TEST_CASE("a program reads all that it is fed, also while it says more than a pipe holds") {
    const std::string part(300000, 'x');
    const ProcessResult result =
        run_fed_process({"sh", "-c", "head -c 2000000 /dev/zero | tr '\\0' n; wc -c; exit 4"},
                        [&](const Feed& feed) {
                            for (int i = 0; i < 10; ++i) CHECK(feed(part));
                        });
    CHECK(result.status == 4);
    REQUIRE(result.output.size() > 2000000);
    CHECK(result.output.substr(2000000) == "3000000\n");
}

TEST_CASE("a program that closes its input early is told by the feed while it still runs") {
    const Folder folder;
    const std::string mark = (folder / "mark").string(), part(300000, 'x');
    // It goes on once the feed has noticed, or after 5 seconds with another status.
    const std::string script = "exec <&-; i=0; while [ ! -e '" + mark +
                               "' ]; do sleep 0.01; i=$((i + 1)); [ $i -lt 500 ] || exit 9; done; "
                               "echo enough; exit 7";
    bool read_on = true;
    const ProcessResult result = run_fed_process({"sh", "-c", script}, [&](const Feed& feed) {
        for (int i = 0; i < 100 && read_on; ++i) read_on = feed(part);
        write_file(mark, "");
    });
    CHECK_FALSE(read_on);
    CHECK(result.status == 7);
    CHECK(result.output == "enough\n");
}

TEST_CASE("an exception of the feeding code kills the program and passes through") {
    const Folder folder;
    const std::string mark = (folder / "mark").string();
    CHECK(error_of([&] {
              run_fed_process({"sh", "-c", "cat >/dev/null; touch '" + mark + "'"},
                              [&](const Feed&) { throw Error("the feed", "stops"); });
          }) == "the feed: stops");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    CHECK_FALSE(std::filesystem::exists(mark));
}

TEST_CASE("a fed program ends with the process that feeds it, and its file goes") {
    const Folder folder;
    const std::string file = (folder / "half").string(), number = (folder / "number").string();
    const pid_t feeding = ::fork();
    if (feeding == 0) {
        run_fed_process(
            {"sh", "-c", "echo half > '" + file + "'; echo $$ > '" + number + "'; sleep 600"},
            [](const Feed&) { ::pause(); }, file);
        ::_exit(0);
    }
    int program = 0;
    for (int i = 0; i < 1000 && program == 0; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        if (std::filesystem::exists(number)) std::sscanf(read_file(number).c_str(), "%d", &program);
    }
    REQUIRE(program > 0);
    CHECK(std::filesystem::exists(file));
    ::kill(feeding, SIGKILL);
    ::waitpid(feeding, nullptr, 0);
    const auto gone = [&] { return has_ended(program) && !std::filesystem::exists(file); };
    for (int i = 0; i < 1000 && !gone(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(gone());
}

TEST_CASE("cancel kills the program and its children") {
    const Folder folder;
    const std::string mark = (folder / "alive").string();
    std::atomic<bool> cancel = false;
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        cancel = true;
    });
    ProcessResult result;
    const double seconds = seconds_of([&] {
        result = shell("(sleep 1; touch '" + mark + "') & echo before; sleep 20", &cancel);
    });
    later.join();
    CHECK(seconds < 10);
    CHECK(result.cancelled);
    CHECK(result.status == 128 + SIGKILL);
    CHECK(result.output == "before\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    CHECK_FALSE(std::filesystem::exists(mark));
}

TEST_CASE("cancel stops a program that writes without end") {
    std::atomic<bool> cancel = false;
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        cancel = true;
    });
    CHECK(run_process({"yes"}, &cancel).cancelled);
    later.join();
}

TEST_CASE("a program and its children end with the thread that waits for them") {
    const Folder folder;
    const std::string numbers = (folder / "numbers").string(),
                      work_folder = (folder / "work_folder").string();
    for (const bool killed : {true, false}) {
        CAPTURE(killed);
        std::filesystem::create_directories(work_folder);
        const pid_t waiting = ::fork();
        if (waiting == 0) {
            std::signal(SIGTERM, SIG_DFL);    // not the test framework's
            const auto start = [&] {
                run_process({"sh", "-c", "sleep 600 & echo $! $$ > '" + numbers + "'; wait"},
                            nullptr, work_folder);
            };
            if (killed) start();
            std::thread(start).detach();
            ::pause();
            ::_exit(0);
        }
        int child = 0, shell = 0;
        for (int i = 0; i < 1000 && shell == 0; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            if (std::filesystem::exists(numbers))
                std::sscanf(read_file(numbers).c_str(), "%d %d", &child, &shell);
        }
        REQUIRE(shell > 0);
        CHECK(::kill(child, 0) == 0);
        ::kill(waiting, killed ? SIGKILL : SIGTERM);
        ::waitpid(waiting, nullptr, 0);
        const auto gone = [&] {
            return has_ended(child) && has_ended(shell) && !std::filesystem::exists(work_folder);
        };
        for (int i = 0; i < 1000 && !gone(); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        CAPTURE(has_ended(child));
        CAPTURE(has_ended(shell));
        CAPTURE(std::filesystem::exists(work_folder));
        CHECK(gone());
        std::filesystem::remove(numbers);
    }
}

TEST_CASE("a program keeps nothing open that this process has") {
    const Folder folder;
    const int before = ::open((folder / "lock").c_str(), O_CREAT | O_RDWR, 0600);
    CHECK(shell("ls /proc/self/fd | wc -l").output == "4\n");        // 0, 1, 2, and that of ls
    CHECK(shell("sleep 0.5; ls /proc/$PPID/fd").output == "0\n");    // the guard's
    ::close(before);
}

TEST_CASE("a program that has ended is not cancelled by a flag that stays down") {
    const std::atomic<bool> cancel = false;
    CHECK_FALSE(shell("exit 0", &cancel).cancelled);
}

TEST_CASE("a program that cannot be started says why") {
    const Folder folder;
    CHECK(error_of([] { run_process({"nacelle-no-such"}); }) ==
          "cannot start 'nacelle-no-such': not found on PATH");
    CHECK(error_of([] { run_process({}); }) == "cannot start '': no program named");
    CHECK(error_of([] { run_process({""}); }) == "cannot start '': no program named");

    const std::string missing = (folder / "missing").string();
    CHECK(error_of([&] { run_process({missing}); }) ==
          "cannot start '" + missing + "': no such file");
    const std::string text = (folder / "text").string();
    write_file(text, "no program");
    CHECK(error_of([&] { run_process({text}); }) ==
          "cannot start '" + text + "': not an executable file");
    ::chmod(text.c_str(), 0755);
    CHECK(error_of([&] { run_process({text}); }) ==
          "cannot start '" + text + "': not a program for this machine");
    write_file(text, "#!/nowhere/interpreter\n");
    ::chmod(text.c_str(), 0755);
    CHECK(error_of([&] { run_process({text}); }) ==
          "cannot start '" + text + "': the interpreter in its first line does not exist");
}

TEST_CASE("a program is found on PATH, by its full path, or not at all") {
    const std::string shell_path = find_program("sh");
    CHECK(std::filesystem::path(shell_path).is_absolute());
    CHECK(std::filesystem::exists(shell_path));
    CHECK(find_program(shell_path) == shell_path);
    CHECK(find_program("nacelle-no-such").empty());
    CHECK(find_program("").empty());
    CHECK(find_program("/etc/passwd").empty());
    CHECK(find_program("/etc").empty());
}
