#pragma once
#include "engine/jit/author_source.h"
#include "engine/web/sections.h"

#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace nacelle {

struct WatchedSettings {
    // The program that steps the environment; a last argument is added, the number of its channel.
    std::vector<std::string> command;
    std::filesystem::path author;               // the environment's file
    std::vector<std::filesystem::path> data;    // its tables and settings
    double timeout = 10;    // seconds that a step, reset() or observe() may take
    bool waits = true;      // after a failure waits for a save instead of ending
    std::vector<std::string> first_commands;    // sent when the child starts
};

// Runs an author's code in a process of its own and shows its sections: an index outside an array, an endless loop or
// a lost GPU ends that process alone. The error is shown, with its location where that is known, and the next save
// starts the process again.
class WatchedProcess final {
public:
    WatchedProcess(Sections& sections, WatchedSettings settings);
    ~WatchedProcess();
    WatchedProcess(const WatchedProcess&) = delete;
    WatchedProcess& operator=(const WatchedProcess&) = delete;

    // Sends a command; it is lost where it cannot be sent now. From any thread; never waits.
    void send(const std::string& command);
    // Requests a newer picture.
    void look();
    // Whether it has ended: all steps are taken, or it failed and does not wait for a save.
    bool over() const { return over_; }
    std::string failure() const;

private:
    class Listener;
    void work();
    std::string follow_one();
    void read_source();
    void wait_for_save();
    void broken(const std::string& text);
    // False where no process listens or its channel is full.
    bool write_line(const std::string& line);
    void keep(const std::string& command);
    void write_lasting_commands();

    Sections& sections_;
    WatchedSettings settings_;
    mutable std::mutex mutex_;
    int channel_ = -1;    // our end of the child's
    pid_t child_ = 0;     // its process
    std::string failure_;
    // By subject; sent again to a child that is started anew.
    std::map<std::string, std::string> lasting_commands_;
    bool ours_;                        // at first no other user could have written the source
    std::vector<SourceFile> known_;    // the files as the process last compiled them; of thread_
    std::atomic<bool> over_ = false, ends_ = false, looks_ = false, asked_ = false;
    std::thread thread_;
};

}
