#pragma once
#include "plugins/support/unfinished_file.h"

#include <algorithm>
#include <cstdint>
#include <nacelle/plugin/host.h>
#include <optional>
#include <sys/stat.h>
#include <utility>

namespace nacelle::plugins {

// A text file that grows by whole lines, of which each is a record of a step, or none of ours: a file that
// is there already is continued, and whatever somebody else wrote into it stays.
class LineFile final : public AppendedFile {
public:
    // A last line without an end, which a crash left, is cut off where is_cut(line, whether it is the first)
    // says that it is ours. Any other gets its end.
    template <class IsCut>
    LineFile(const std::filesystem::path& path, IsCut&& is_cut) : AppendedFile(path) {
        if (!is_plain()) return;
        const off_t begin = last_line();
        const std::string line = read(begin, status().st_size);
        if (line.empty()) return;
        if (is_cut(std::string_view(line), begin == 0)) cut(begin);
        else AppendedFile::add("\n");
    }

    void add(std::string_view line) { AppendedFile::add(std::string(line) + '\n'); }

    // Removes each record of a step beyond this one, wherever it stands. step_of(line, its number) gives
    // nothing for a line that is no record; the host's log is told once of such lines.
    template <class StepOf> void rewind(plugin::Host host, uint64_t step, StepOf&& step_of) {
        if (!is_plain()) return;
        uint64_t foreign = 0, first_foreign = 0;
        off_t at = 0, first_gone = -1;
        bool only_tail = true;
        each_line([&](const std::string& line, uint64_t number) {
            const std::optional<uint64_t> its = step_of(line, number);
            if (!its && foreign++ == 0) first_foreign = number;
            if (its && *its > step) first_gone = first_gone < 0 ? at : first_gone;
            else only_tail &= first_gone < 0;
            at += static_cast<off_t>(line.size() + 1);
        });
        if (first_gone >= 0 && only_tail) cut(first_gone);
        else if (first_gone >= 0)
            rewrite([&](const std::string& line, uint64_t number) -> std::optional<std::string> {
                const std::optional<uint64_t> its = step_of(line, number);
                if (its && *its > step) return {};
                return line;
            });
        if (foreign > 0)
            host.log(NACELLE_WARNING, path().string() + ":" + std::to_string(first_foreign) +
                                          ": this is no line of metrics; it stays where it is" +
                                          (foreign == 1 ? "" : others(foreign - 1)));
    }

    // Writes the file anew: changed(line, its number) gives what comes in the line's place, or nothing. A
    // link to a file stays one.
    template <class Changed> void rewrite(Changed&& changed) {
        UnfinishedFile anew(std::filesystem::canonical(path()));
        each_line([&](const std::string& line, uint64_t number) {
            if (const std::optional<std::string> now = changed(line, number)) anew.add(*now + '\n');
        });
        anew.take_place();
        reopen();
    }

private:
    static constexpr off_t block = 1 << 16;

    static std::string others(uint64_t count) {
        return ", as do " + std::to_string(count) + " like it";
    }
    bool is_plain() const { return S_ISREG(status().st_mode); }
    struct stat status() const {
        struct stat found {};
        if (::fstat(file(), &found) != 0) fail(errno);
        return found;
    }
    void cut(off_t end) {
        if (end < status().st_size && ::ftruncate(file(), end) != 0) fail(errno);
    }

    template <class Work> void each_line(Work&& work) {
        flush();
        const off_t end = status().st_size;
        std::string waiting;
        uint64_t number = 0;
        for (off_t at = 0; at < end; at += block) {
            waiting += read(at, std::min(end, at + block));
            size_t begin = 0;
            for (size_t stop; (stop = waiting.find('\n', begin)) != waiting.npos; begin = stop + 1)
                work(waiting.substr(begin, stop - begin), ++number);
            waiting.erase(0, begin);
        }
        if (!waiting.empty()) work(waiting, ++number);
    }
    // Where the line begins that has no end.
    off_t last_line() const {
        for (off_t end = status().st_size; end > 0;) {
            const off_t begin = std::max<off_t>(0, end - block);
            const size_t found = read(begin, end).rfind('\n');
            if (found != std::string::npos) return begin + static_cast<off_t>(found + 1);
            end = begin;
        }
        return 0;
    }
    std::string read(off_t begin, off_t end) const {
        std::string text(static_cast<size_t>(end - begin), '\0');
        for (size_t at = 0; at < text.size();) {
            const ssize_t count =
                ::pread(file(), text.data() + at, text.size() - at, begin + static_cast<off_t>(at));
            if (count == 0) break;
            if (count > 0) at += static_cast<size_t>(count);
            else if (errno != EINTR) fail(errno);
        }
        return text;
    }
};

}
