#include "tests/plugins/bench.h"

using namespace nacelle;
using namespace nacelle::test;

TEST_CASE("what a sink throws becomes an error with its name") {
    Plugins plugins = plugins_of({made_plugins});
    CHECK(complaint([&] { SinkInstance(plugins, "bad_create", "."); }) ==
          "bad_create: no room for it");
    SinkInstance bad_write(plugins, "bad_write", "."), bad_flush(plugins, "bad_flush", "."),
        strange(plugins, "strange", ".");
    CHECK(complaint([&] { bad_write.write(1, {{"loss", 1.0}}); }) == "bad_write: no room for it");
    bad_write.flush();
    bad_flush.write(1, {{"loss", 1.0}});
    CHECK(complaint([&] { bad_flush.flush(); }) == "bad_flush: no room for it");
    CHECK(complaint([&] { strange.write(1, {}); }) == "strange: unknown exception");
}

TEST_CASE("a failure without a word is called so") {
    Plugins plugins = plugins_of({made_plugins});
    SinkInstance silent(plugins, "silent", ".");
    CHECK(complaint([&] { silent.write(1, {}); }) == "silent: write() failed and gave no reason");
}

TEST_CASE("a plugin is configured with an object") {
    Plugins plugins = plugins_of({made_plugins});
    CHECK(complaint([&] { SinkInstance(plugins, "silent", ".", Json::array({1})); }) ==
          "silent: is configured with [1], not with an object");
    CHECK(complaint([&] {
              SinkInstance(plugins, "silent", ".", {{"name", "\xff"}});
          }) == "silent: its configuration holds a text that is not UTF-8");
}

TEST_CASE("what a hook or a learner throws becomes an error with its name") {
    Environment env(cpu(), recommended("cartpole", 8));
    Plugins plugins = plugins_of({made_plugins});
    CHECK(complaint([&] { run_hook(plugins, env, "bad_loaded", Json::object(), "."); }) ==
          "bad_loaded: no room for it");
    CHECK(complaint([&] { LearnerInstance(plugins, env, "bad_create", Json::object()); }) ==
          "bad_create: no room for it");
    LearnerInstance record(plugins, env, "bad_record", Json::object()),
        act(plugins, env, "bad_act", Json::object()),
        metrics(plugins, env, "bad_metrics", Json::object());
    CHECK(complaint([&] { record.record(nullptr); }) == "bad_record: no room for it");
    CHECK(complaint([&] { act.act(true); }) == "bad_act: no room for it");
    CHECK(complaint([&] { metrics.metrics(); }) == "bad_metrics: no room for it");
    // What failed once may be asked again.
    CHECK(record.metrics().empty());
    act.record(nullptr);
}
