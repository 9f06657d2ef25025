// An environment whose code is compiled while a learner's programs are.
#include "engine/run/trainee.h"
#include "tests/env/workbench.h"

#include <chrono>
#include <condition_variable>
#include <doctest/doctest.h>
#include <mutex>

using namespace nacelle;
using namespace nacelle::test;

namespace {

Json searching_cartpole(const Json& over) {
    Json all = {{"env", {{"source", "cartpole"}, {"count", 300}}},
                {"learner", {{"name", "random_search"}}}};
    merge_json(all, over);
    return all;
}

// A compiler that can compile side by side, and has nothing yet: what is to be known about it.
struct Beside {
    std::mutex lock;
    std::condition_variable changed;
    std::vector<std::string> asked, done;
    bool code_fails = false;

    void note(std::vector<std::string>& list, const std::string& what) {
        const std::lock_guard hold(lock);
        list.push_back(what);
        changed.notify_all();
    }
    bool wait_for(const std::string& what) {
        std::unique_lock hold(lock);
        return changed.wait_for(hold, std::chrono::seconds(60), [&] {
            return std::find(asked.begin(), asked.end(), what) != asked.end();
        });
    }
};

class BesideCompiler final : public Compiler {
public:
    BesideCompiler(Beside& beside, std::unique_ptr<Compiler> real)
        : beside_(beside), real_(std::move(real)) {}
    std::string identity() const override { return real_->identity(); }
    Compiled compile(const ProgramSource& source, const std::atomic<bool>* cancel) override {
        const std::string what = name_of(source);
        beside_.note(beside_.asked, what);
        if (what == "code" && beside_.code_fails)
            return Diagnostics{.list = {{.file = "pole.cu", .line = 7, .message = "made up"}},
                               .raw = {}};
        // Whoever waits for the code first never comes to the learner's.
        if (what == "code" && !beside_.wait_for("learner"))
            throw std::runtime_error("nobody asked for the learner's program");
        Compiled compiled = real_->compile(source, cancel);
        beside_.note(beside_.done, what);
        return compiled;
    }
    bool get_ready_beside(const ProgramSource& source) override {
        return name_of(source) == "code";
    }

private:
    static std::string name_of(const ProgramSource& source) {
        if (source.instantiation.find("NACELLE_STEPWISE()") != std::string::npos) return "code";
        return source.instantiation.find("RANDOM_SEARCH") != std::string::npos ? "learner"
                                                                               : "table";
    }

    Beside& beside_;
    std::unique_ptr<Compiler> real_;
};

struct Bench {
    Bench()
        : on(cpu()), plugins({build_path("plugins"), build_path("algorithms")}, shared_cache()) {
        on->compiler = std::make_unique<BesideCompiler>(beside, std::move(on->compiler));
    }
    std::unique_ptr<Trainee> begun(const Json& over = Json::object()) {
        const Json all = searching_cartpole(over);
        return std::make_unique<Trainee>(begin_environment(on, plugins, all, "test"), plugins, all,
                                         "test");
    }

    Beside beside;
    std::shared_ptr<RunsOn> on;
    Plugins plugins;
};

}

TEST_CASE("a learner's program is asked for before its environment's code is there") {
    Bench bench;
    const std::unique_ptr<Trainee> begun = bench.begun();
    CHECK(bench.beside.asked.front() == "table");
    CHECK(bench.beside.done.size() == 3);
    // And nothing else is another thing: neither what is kept nor what comes of it.
    const Json all = searching_cartpole(Json::object());
    Trainee loaded(load_environment(cpu(), bench.plugins, all, "test"), bench.plugins, all, "test");
    for (int i = 0; i < 2; ++i) {
        CHECK(first_difference(begun->environment(), loaded.environment()) == "");
        for (Trainee* const one : {begun.get(), &loaded}) one->iteration().run();
    }
    CHECK(begun->environment().tick() == loaded.environment().tick());
    CHECK(begun->environment().tick() > 1);
}

TEST_CASE("what is wrong with the code is told first, and in its own words") {
    const std::string expected = "pole.cu:7: error: made up";
    for (const Json& over :
         {Json::object(), Json{{"env", {{"params", {{"gravty", 1}}}}}},
          Json{{"learner", {{"name", "nobody"}}}}, Json{{"learner", {{"elite", -1}}}}}) {
        CAPTURE(over);
        Bench bench;
        bench.beside.code_fails = true;
        CHECK(complaint([&] { bench.begun(over); }).starts_with(expected));
    }
}

TEST_CASE("what is wrong with a table of fields is told by the code") {
    const Folder folder;
    std::string text = read_file(env_folder / "cartpole.cu");
    text.replace(text.find("float x,"), 8, "flaot x,");
    const std::filesystem::path file = folder.write("pole.cu", text);
    const Json wrong = searching_cartpole({{"env", {{"source", file.string()}}}});
    Bench bench;
    const std::string expected =
        complaint([&] { load_environment(cpu(), bench.plugins, wrong, "test"); });
    CHECK(contains(expected, "pole.cu:"));
    bench.beside.note(bench.beside.asked, "learner");
    CHECK(complaint([&] { begin_environment(bench.on, bench.plugins, wrong, "test"); }) ==
          expected);
}

TEST_CASE("what is wrong beside the code is told as it is everywhere") {
    for (const Json& over :
         {Json{{"env", {{"params", {{"gravty", 1}}}}}}, Json{{"learner", {{"name", "nobody"}}}}}) {
        CAPTURE(over);
        Bench bench;
        const Json all = searching_cartpole(over);
        bench.beside.note(bench.beside.asked, "learner");
        const std::string expected = complaint([&] {
            Trainee(load_environment(cpu(), bench.plugins, all, "test"), bench.plugins, all,
                    "test");
        });
        CHECK(!expected.empty());
        CHECK(complaint([&] { bench.begun(over); }) == expected);
    }
}
