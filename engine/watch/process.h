#pragma once
#include "engine/jit/scan.h"
#include "engine/web/board.h"

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
    std::filesystem::path author;    // the environment's file
    double timeout = 10;             // seconds that a step, reset() or observe() may take
    bool waits = true;    // for a save, where the environment cannot go on; else all is over then
    std::vector<std::string> wishes;    // commands that it begins with
};

// An author's code at work in a process of its own, and what it shows on a board: an index outside its
// array, an endless loop or a lost GPU end that process alone. What was wrong is shown, with its place
// where that can be known, and the next save starts it anew.
class WatchedProcess final {
public:
    WatchedProcess(Board& board, WatchedSettings settings);
    ~WatchedProcess();
    WatchedProcess(const WatchedProcess&) = delete;
    WatchedProcess& operator=(const WatchedProcess&) = delete;

    // A command's JSON; what cannot be taken now is lost. From any thread, and nothing waits.
    void send(const std::string& command);
    // Somebody wants a newer picture.
    void look();
    // All is over: its steps are taken, or it failed and nobody waits for a save.
    bool over() const { return over_; }
    std::string failure() const;

private:
    class Listener;
    void work();
    std::string follow_one();
    void read_source();
    void wait_for_save();
    void broken(const std::string& text);
    void write_line(const std::string& line);
    void keep(const std::string& command);
    void write_wishes();

    Board& board_;
    WatchedSettings settings_;
    mutable std::mutex mutex_;
    int channel_ = -1;    // our end of the child's
    pid_t child_ = 0;     // its process
    std::string failure_;
    std::map<std::string, std::string>
        wishes_;    // what a process that is started anew must be told
    std::vector<SourceFile>
        known_;    // the files as the process has last compiled them; of thread_
    std::atomic<bool> over_ = false, ends_ = false, looks_ = false, asked_ = false;
    std::thread thread_;
};

}
