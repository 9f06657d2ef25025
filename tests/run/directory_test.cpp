#include "engine/run/directory.h"
#include "tests/env/workbench.h"
#include "tests/support/skip.h"

#include <csignal>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <set>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace nacelle;
using namespace nacelle::test;
namespace fs = std::filesystem;

namespace {

const std::vector<SourceFile> author = {{"pole.cu", "int a;"}, {"parts/more.h", "int b;"}};

std::string refused_directory(const fs::path& path) {
    return complaint([&] { RunDirectory::create(path, author); });
}

void put(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    write_file(path, text);
}

size_t files_in(const fs::path& path) {
    return size_t(std::distance(fs::recursive_directory_iterator(path), {}));
}

}

TEST_CASE("a new run refuses a directory with a file that it would have to overwrite") {
    for (const std::string name :
         {"source/0/pole.cu", "source/0/parts/more.h", "source/0/parts", "source/0", "source",
          "state.json", "checkpoints/best.json", "checkpoints/step-000000000000100.json",
          "checkpoints/step-000000000000100.safetensors",
          "checkpoints/best-step-000000000000100.safetensors"}) {
        CAPTURE(name);
        const Folder folder;
        put(folder.path() / name, "somebody's");
        const size_t before = files_in(folder.path());
        CHECK(
            refused_directory(folder.path()) ==
            (folder.path() / name).string() +
                ": is there already, and a new run would have to overwrite it (remove it, or name "
                "another directory)");
        CHECK(files_in(folder.path()) == before);
        CHECK(read_file(folder.path() / name) == "somebody's");
    }
}

TEST_CASE("links lead nothing that a run writes out of its folder") {
    for (const std::string name :
         {"metrics.jsonl", "checkpoints", "source/0", "logs/metrics.csv"}) {
        CAPTURE(name);
        const Folder folder, elsewhere;
        const fs::path run = folder.path() / "run", link = run / name;
        fs::create_directories(link.parent_path());
        fs::create_symlink(elsewhere.path() / "theirs", link);
        const std::string refused = link.string() +
                                    ": is a link that leads out of the run's folder, and a run "
                                    "writes nothing outside (remove the link, or put there what "
                                    "it leads to)";
        CHECK(refused_directory(run) == refused);
        put(run / "config.json", "{}");
        CHECK(complaint([&] { RunDirectory::open(run); }) == refused);
        fs::remove(link);
        fs::create_directory(run / "kept");
        fs::create_symlink(run / "kept", link);    // within the folder
        CHECK(complaint([&] { RunDirectory::open(run); }) == "");
    }
    // One that leads nowhere may lead out once the run has made `checkpoints`.
    const Folder folder;
    const fs::path run = folder.path() / "run", deep = run / "a/b/c";
    fs::create_directories(deep);
    fs::create_symlink("../../../checkpoints", deep / "M");
    fs::create_symlink("M/../../outside.txt", deep / "A");
    fs::create_symlink("a/b/c/A", run / "metrics.jsonl");
    const std::string said = refused_directory(run);
    CHECK(contains(said, ": is a link that leads nowhere (remove the link"));
    CHECK(contains(said, run.string()));
}

TEST_CASE(
    "a run writes into no pipe, through no link that is too long to follow, and into no folder "
    "of another user") {
    const Folder folder, elsewhere;
    const fs::path run = folder.path() / "run", metrics = run / "metrics.jsonl";
    fs::create_directories(run / "checkpoints");
    std::string way;
    while (way.size() < 3900) way += "./";
    fs::create_symlink(way + "../" + std::string(40, 'x') + elsewhere.path().string(), metrics);
    CHECK(contains(refused_directory(run), "is a link that leads out of the run's folder"));
    fs::remove(metrics);
    REQUIRE(::mkfifo(metrics.c_str(), 0666) == 0);
    CHECK(refused_directory(run) == metrics.string() +
                                        ": is no plain file, and a run would wait for it (remove "
                                        "it, or name another directory)");
    fs::remove(metrics);
    if (::geteuid() != 0) NACELLE_SKIP("only root can give a directory to somebody else");
    for (const fs::path& theirs : {run / "checkpoints", run}) {
        REQUIRE(::chown(theirs.c_str(), 65534, gid_t(-1)) == 0);
        CHECK(contains(refused_directory(run), theirs.string() + ": belongs to another user"));
        REQUIRE(::chown(theirs.c_str(), 0, gid_t(-1)) == 0);
    }
    CHECK(refused_directory(run) == "");
    // The run's path is a link: its owner counts, and that of its target.
    const fs::path link = folder.path() / "link";
    fs::create_directory_symlink(run, link);
    CHECK(refused_directory(link) == "");
    REQUIRE(::lchown(link.c_str(), 65534, gid_t(-1)) == 0);
    CHECK(contains(refused_directory(link), "link: is a link of another user"));
    REQUIRE(::lchown(link.c_str(), 0, gid_t(-1)) == 0);
    REQUIRE(::chown(run.c_str(), 65534, gid_t(-1)) == 0);
    CHECK(contains(refused_directory(link), "link: belongs to another user"));
}

TEST_CASE("settings of a run that are no objects are refused in a sentence") {
    const Folder folder;
    for (const std::string text :
         {"[1]", "null", R"({"learner": [1]})", R"({"env": []})", R"({"run": 3})"}) {
        put(folder.path() / "config.json", text);
        CHECK(contains(complaint([&] { run_configuration(folder.path()); }), "no object"));
    }
}

TEST_CASE("a new run refuses a folder where its count lies") {
    const Folder folder;
    put(folder.path() / "count.json", "somebody's");
    CHECK(contains(refused_directory(folder.path()), "count.json: is there already"));
}

TEST_CASE("a new run leaves what it need not overwrite, and takes what has the same bytes") {
    const Folder folder;
    for (const std::string name :
         {"notes.txt", "source/0/notes.txt", "source/0/parts/other.h", "source/7/notes.txt",
          "checkpoints/best-model.safetensors", "checkpoints/step-7.json"})
        put(folder.path() / name, "somebody's");
    put(folder.path() / "source/0/pole.cu", "int a;");
    const size_t before = files_in(folder.path());
    const RunDirectory directory = RunDirectory::create(folder.path(), author);
    directory.keep_source(0, author);
    CHECK(files_in(folder.path()) == before + 1);    // parts/more.h
    CHECK(read_file(folder.path() / "source/0/notes.txt") == "somebody's");
    CHECK(read_file(folder.path() / "source/0/parts/more.h") == "int b;");
}

TEST_CASE("a version of the source is written into its folder, and what is there stays") {
    const Folder folder;
    const RunDirectory directory = RunDirectory::create(folder.path(), author);
    put(folder.path() / "source/500/notes.txt", "somebody's");
    const std::vector<SourceFile> changed = {{"pole.cu", "int c;"}};
    directory.keep_source(0, author);
    directory.keep_source(500, changed);
    CHECK(read_file(folder.path() / "source/500/notes.txt") == "somebody's");
    CHECK(read_file(folder.path() / "source/500/pole.cu") == "int c;");
    directory.keep_source(500, {{"pole.cu", "int d;"}});
    CHECK(read_file(folder.path() / "source/500/pole.cu") == "int d;");
    // From an earlier checkpoint on: what ran there before is compared, not what ran later.
    directory.keep_source(500, changed);
    directory.keep_source(300, changed);
    CHECK(read_file(folder.path() / "source/300/pole.cu") == "int c;");
    // Nor are other names versions.
    put(folder.path() / "source/0400/pole.cu", "");
    put(folder.path() / "source/600", "");
    std::vector<uint64_t> steps;
    for (const SourceVersion& version : source_versions(folder.path()))
        steps.push_back(version.step);
    CHECK(steps == std::vector<uint64_t>{0, 300, 500});
}

TEST_CASE("a run writes nothing into another directory that takes its place") {
    const Folder folder;
    const RunDirectory run = RunDirectory::create(folder.path() / "run", author),
                       other = RunDirectory::create(folder.path() / "other", author);
    fs::rename(folder.path() / "run", folder.path() / "away");
    fs::create_directory_symlink(folder.path() / "other", folder.path() / "run");
    const std::string refusal = (folder.path() / "run").string() +
                                ": is another directory than at the start of this run, which "
                                "writes nothing more";
    CHECK(complaint([&] { run.checkpoints(); }) == refusal);
    CHECK(complaint([&] { run.write_configuration(Json::object()); }) == refusal);
    CHECK(complaint([&] { run.keep_source(7, {{"pole.cu", "int c;"}}); }) == refusal);
    CHECK(complaint([&] { run.discard(); }) == refusal);
    CHECK(files_in(folder.path() / "other") == 1);    // its checkpoints
    fs::remove(folder.path() / "run");
    fs::rename(folder.path() / "away", folder.path() / "run");
    run.write_configuration(Json::object());
    CHECK(fs::exists(folder.path() / "run/config.json"));
    // Nor among the checkpoints of another run.
    const fs::path kept = folder.path() / "run/checkpoints";
    fs::rename(kept, folder.path() / "away");
    fs::create_directory_symlink(folder.path() / "other/checkpoints", kept);
    CHECK(contains(complaint([&] { run.checkpoints(); }),
                   kept.string() + ": is another directory than at the start"));
}

TEST_CASE("nobody else locks a new run's directory before the run, whose mode is the usual one") {
    const Folder folder;
    ::chmod(folder.path().c_str(), 02775);
    const mode_t before = ::umask(0022);
    for (const mode_t mask : {0077u, 0002u, 0022u}) {
        ::umask(mask);
        const fs::path path = folder.path() / ("run-" + std::to_string(mask));
        const RunDirectory run = RunDirectory::create(path, author);
        struct stat usual {};
        struct stat its {};
        REQUIRE(::mkdir((path / "usual").c_str(), 0777) == 0);
        REQUIRE(::stat((path / "usual").c_str(), &usual) == 0);
        REQUIRE(::stat(path.c_str(), &its) == 0);
        CHECK(its.st_mode == usual.st_mode);
        CHECK(files_in(path) == 2);    // its checkpoints, and what is usual
    }
    if (::geteuid() != 0) {
        ::umask(before);
        NACELLE_SKIP("only root can be two users");
    }
    constexpr int most = 500;
    const auto place = [&](int i) { return folder.path() / "theirs" / std::to_string(i); };
    fs::create_directory(folder.path() / "theirs");
    const pid_t other = ::fork();
    if (other == 0) {
        ::alarm(60);
        if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(2);
        for (int i = 0; i < most; ++i) {
            int opened = -1;
            while ((opened = ::open(place(i).c_str(), O_RDONLY | O_DIRECTORY)) < 0) {}
            if (::flock(opened, LOCK_EX | LOCK_NB) == 0) ::_exit(1);
        }
        ::_exit(0);
    }
    std::vector<RunDirectory> runs;
    std::string said;
    for (int i = 0; i < most && said.empty(); ++i)
        said = complaint([&] { runs.push_back(RunDirectory::create(place(i), {})); });
    ::umask(before);
    int status = 0;
    if (!said.empty()) ::kill(other, SIGKILL);
    REQUIRE(::waitpid(other, &status, 0) == other);
    CHECK(said == "");
    CHECK(status == 0);
}

TEST_CASE("directories that are made at once have different numbers") {
    const Folder folder;
    const fs::path stem = folder.path() / "runs" / "pole";
    put(stem.string() + "-2", "a file is no place either");
    std::vector<std::string> names(8);
    std::vector<std::thread> threads;
    for (std::string& name : names)
        threads.emplace_back([&] { name = RunDirectory::create_next(stem).path().filename(); });
    for (std::thread& thread : threads) thread.join();
    const std::set<std::string> wanted = {"pole-1", "pole-3", "pole-4", "pole-5",
                                          "pole-6", "pole-7", "pole-8", "pole-9"};
    CHECK(std::set<std::string>(names.begin(), names.end()) == wanted);
}
