#pragma once
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace nacelle::plugins {

// A text file that grows by whole lines. An existing one is continued; a last line without an end,
// which a crash left, is cut off. Lines gather in memory until flush() or until they are many. What
// a full disk did not take is kept and goes first at the next flush().
class LineFile final {
public:
    explicit LineFile(std::filesystem::path path) : path_(std::move(path)) {
        file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (file_ < 0) fail(errno);
        cut_open_line();
    }
    ~LineFile() {
        try {
            flush();
        } catch (const std::exception&) {
            // Whoever wants to know calls flush() himself.
        }
        ::close(file_);
    }
    LineFile(const LineFile&) = delete;
    LineFile& operator=(const LineFile&) = delete;

    const std::filesystem::path& path() const { return path_; }
    void add(std::string_view line) {
        waiting_.append(line).push_back('\n');
        if (waiting_.size() > most_waiting) flush();
    }
    void flush() {
        size_t written = 0;
        int reason = 0;
        while (written < waiting_.size() && reason == 0) {
            const ssize_t count =
                ::write(file_, waiting_.data() + written, waiting_.size() - written);
            if (count >= 0) written += static_cast<size_t>(count);
            else if (errno != EINTR) reason = errno;
        }
        waiting_.erase(0, written);
        if (reason) fail(reason);
    }

private:
    static constexpr size_t most_waiting = 1 << 16;

    void cut_open_line() {
        struct stat status {};
        if (::fstat(file_, &status) != 0) fail(errno);
        if (!S_ISREG(status.st_mode)) return;
        off_t end = status.st_size;
        for (char last = 0; end > 0; --end) {
            if (::pread(file_, &last, 1, end - 1) != 1) fail(errno);
            if (last == '\n') break;
        }
        if (end != status.st_size && ::ftruncate(file_, end) != 0) fail(errno);
    }

    [[noreturn]] void fail(int code) const {
        const std::string why =
            code == ENOSPC ? "the disk is full" : std::generic_category().message(code);
        throw std::runtime_error(path_.string() + " cannot be written: " + why);
    }

    std::filesystem::path path_;
    int file_ = -1;
    std::string waiting_;
};

}
