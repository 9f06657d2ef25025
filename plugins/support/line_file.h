#pragma once
#include "plugins/support/appended_file.h"

#include <fstream>
#include <sys/stat.h>
#include <utility>

namespace nacelle::plugins {

// A text file that grows by whole lines. An existing one is continued; a last line without an end,
// which a crash left, is cut off.
class LineFile final : public AppendedFile {
public:
    explicit LineFile(const std::filesystem::path& path) : AppendedFile(path) { cut_open_line(); }

    void add(std::string_view line) { AppendedFile::add(std::string(line) + '\n'); }
    // Cuts off the first line that is not kept, and all that follow it.
    template <class Keep> void keep_while(Keep&& keep) {
        flush();
        if (!is_plain()) return;
        std::ifstream lines(path());
        std::string line;
        off_t end = 0;
        while (std::getline(lines, line) && keep(std::as_const(line)))
            end += static_cast<off_t>(line.size() + 1);
        cut(end);
    }

private:
    bool is_plain() const { return S_ISREG(status().st_mode); }
    struct stat status() const {
        struct stat found {};
        if (::fstat(file(), &found) != 0) fail(errno);
        return found;
    }
    void cut(off_t end) {
        if (end < status().st_size && ::ftruncate(file(), end) != 0) fail(errno);
    }
    void cut_open_line() {
        if (!is_plain()) return;
        off_t end = status().st_size;
        for (char last = 0; end > 0; --end) {
            if (::pread(file(), &last, 1, end - 1) != 1) fail(errno);
            if (last == '\n') break;
        }
        cut(end);
    }
};

}
