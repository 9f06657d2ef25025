#include "engine/jit/source_watch.h"
#include "tests/env/workbench.h"

#include <condition_variable>
#include <doctest/doctest.h>
#include <fstream>
#include <mutex>
#include <optional>

using namespace nacelle;
using namespace nacelle::test;
namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Holds what a watch has told until somebody asks.
class Ear final {
public:
    explicit Ear(const fs::path& author, SourceWatch::Way way = SourceWatch::Way::events)
        : watch_(
              author, read_closure(author), [this](SavedSource source) { hear(std::move(source)); },
              way) {}

    // The next version, or nothing within the time.
    std::optional<SavedSource> next(milliseconds within = milliseconds(10000)) {
        std::unique_lock lock(mutex_);
        heard_.wait_for(lock, within, [&] { return !told_.empty(); });
        if (told_.empty()) return std::nullopt;
        SavedSource first = std::move(told_.front());
        told_.erase(told_.begin());
        return first;
    }
    std::string next_text() {
        const auto found = next();
        return found ? found->files.front().text : "nothing was told";
    }
    bool silent() { return !next(milliseconds(300)); }
    SourceWatch::Way way() const { return watch_.way(); }

private:
    void hear(SavedSource source) {
        {
            const std::lock_guard lock(mutex_);
            told_.push_back(std::move(source));
        }
        heard_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable heard_;
    std::vector<SavedSource> told_;
    SourceWatch watch_;
};

void write_in_place(const fs::path& file, const std::string& text) {
    std::ofstream(file, std::ios::trunc) << text;
}

// What is told of a file that write() empties and fills again. Where the machine is busy elsewhere that may
// take longer than a watch has patience with an empty one.
template <class Write> std::string text_after(Ear& ear, Write&& write) {
    const Clock::time_point start = Clock::now();
    write();
    const bool in_time = Clock::now() - start < milliseconds(400);
    const std::string text = ear.next_text();
    return text.empty() && !in_time ? ear.next_text() : text;
}

void all_ways_of_saving(SourceWatch::Way way) {
    const Folder folder;
    const fs::path file = folder.write("a.cu", "one");
    Ear ear(file, way);
    CHECK(ear.way() == way);
    CHECK(ear.silent());
    SUBCASE("by rename") {
        folder.write("a.cu", "two");
        CHECK(ear.next_text() == "two");
    }
    SUBCASE("in place") {
        CHECK(text_after(ear, [&] { write_in_place(file, "two"); }) == "two");
    }
    SUBCASE("emptied, and written a moment later") {
        const std::string text = text_after(ear, [&] {
            write_in_place(file, "");
            std::this_thread::sleep_for(milliseconds(120));
            write_in_place(file, "two");
        });
        CHECK(text == "two");
        CHECK(ear.silent());
    }
    SUBCASE("emptied for good") {
        write_in_place(file, "");
        CHECK(ear.next_text() == "");
    }
    SUBCASE("the old one aside first, gone for a moment") {
        fs::rename(file, folder.path() / "a.cu~");
        std::this_thread::sleep_for(milliseconds(120));
        CHECK(text_after(ear, [&] { write_in_place(file, "two"); }) == "two");
    }
    SUBCASE("removed and made again") {
        fs::remove(file);
        CHECK(ear.silent());
        CHECK(text_after(ear, [&] { write_in_place(file, "two"); }) == "two");
        folder.write("a.cu", "three");
        CHECK(ear.next_text() == "three");
    }
    SUBCASE("another file beside it, or the same text again, is no save") {
        folder.write("b.cu", "two");
        folder.write("a.cu", "one");
        CHECK(ear.silent());
    }
    SUBCASE("a row of saves is one") {
        const Clock::time_point start = Clock::now();
        for (int i = 0; i < 10; ++i) folder.write("a.cu", "text " + std::to_string(i));
        // Where the machine is busy elsewhere the row takes longer than a watch waits for more of it.
        const bool in_time = Clock::now() - start < milliseconds(8);
        std::string text = ear.next_text();
        while (!in_time && text.starts_with("text ") && text != "text 9") text = ear.next_text();
        CHECK(text == "text 9");
        CHECK(ear.silent());
    }
    SUBCASE("each of many, one after the other") {
        for (int i = 0; i < 20; ++i) {
            folder.write("a.cu", "text " + std::to_string(i));
            CHECK(ear.next_text() == "text " + std::to_string(i));
        }
    }
}

}

TEST_CASE("a save is heard, however it is done") { all_ways_of_saving(SourceWatch::Way::events); }

TEST_CASE("a save is seen without the kernel's events") {
    all_ways_of_saving(SourceWatch::Way::polling);
}

TEST_CASE("included files are watched, also those that come later and lie elsewhere") {
    const Folder folder;
    fs::create_directories(folder.path() / "parts");
    const fs::path file = folder.write("a.cu", "#include \"parts/b.h\"\n");
    folder.write("parts/b.h", "b1");
    Ear ear(file);
    folder.write("parts/b.h", "b2");
    auto told = ear.next();
    REQUIRE(told.has_value());
    REQUIRE(told->files.size() == 2);
    CHECK(told->files[1].text == "b2");

    fs::create_directories(folder.path() / "more");
    folder.write("more/c.h", "c1");
    folder.write("a.cu", "#include \"parts/b.h\"\n#include \"more/c.h\"\n");
    REQUIRE(ear.next().has_value());
    folder.write("more/c.h", "c2");
    told = ear.next();
    REQUIRE(told.has_value());
    REQUIRE(told->files.size() == 3);
    CHECK(told->files[2].text == "c2");
}

TEST_CASE(
    "a file behind symbolic links is heard at its own place, and a link that turns elsewhere") {
    const Folder folder;
    fs::create_directories(folder.path() / "real");
    fs::create_directories(folder.path() / "other");
    folder.write("real/a.cu", "one");
    folder.write("other/a.cu", "elsewhere");
    fs::create_symlink("real/a.cu", folder.path() / "link.cu");
    fs::create_symlink("link.cu", folder.path() / "a.cu");
    Ear ear(folder.path() / "a.cu");
    folder.write("real/a.cu", "two");
    CHECK(ear.next_text() == "two");
    fs::create_symlink("other/a.cu", folder.path() / "new.cu");
    fs::rename(folder.path() / "new.cu", folder.path() / "link.cu");
    CHECK(ear.next_text() == "elsewhere");
    folder.write("other/a.cu", "three");
    CHECK(ear.next_text() == "three");
}

TEST_CASE("a folder that is replaced as a whole is noticed, and heard from then on") {
    const Folder folder;
    fs::create_directories(folder.path() / "work");
    fs::create_directories(folder.path() / "next");
    folder.write("work/a.cu", "one");
    folder.write("next/a.cu", "two");
    Ear ear(folder.path() / "work" / "a.cu");
    fs::rename(folder.path() / "work", folder.path() / "old");
    fs::rename(folder.path() / "next", folder.path() / "work");
    CHECK(ear.next_text() == "two");
    folder.write("work/a.cu", "three");
    CHECK(ear.next_text() == "three");
}

TEST_CASE("the time of a save is the file's, and never before the file was there") {
    using Wall = std::chrono::system_clock;
    const Folder folder;
    const fs::path file = folder.write("a.cu", "one");
    const auto before = Wall::now();
    Ear ear(file);
    folder.write("a.cu", "two");
    auto told = ear.next();
    REQUIRE(told.has_value());
    CHECK(told->saved >= before);
    CHECK(told->saved <= Wall::now());
    const fs::path old = folder.write("old", "three");
    fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(5));
    fs::rename(old, file);
    told = ear.next();
    REQUIRE(told.has_value());
    CHECK(told->saved >= before);
}

TEST_CASE("a watch ends at once") {
    const Folder folder;
    const fs::path file = folder.write("a.cu", "one");
    // A look takes place each second; a busy machine may take its time now and then.
    milliseconds fastest = milliseconds::max();
    for (int i = 0; i < 5; ++i) {
        const auto start = Clock::now();
        { const Ear ear(file); }
        fastest = std::min(fastest, std::chrono::duration_cast<milliseconds>(Clock::now() - start));
    }
    CHECK(fastest < milliseconds(500));
}
