#pragma once
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace nacelle::plugins {

// A file that grows at its end. What is added gathers in memory until flush() or until it is much. What a
// full disk did not take is kept and goes first at the next flush().
class AppendedFile {
public:
    explicit AppendedFile(std::filesystem::path path) : path_(std::move(path)) { reopen(); }
    ~AppendedFile() {
        try {
            flush();
        } catch (const std::exception&) {
            // Whoever wants to know calls flush() himself.
        }
        ::close(file_);
    }
    AppendedFile(const AppendedFile&) = delete;
    AppendedFile& operator=(const AppendedFile&) = delete;

    const std::filesystem::path& path() const { return path_; }
    void add(std::string_view bytes) {
        waiting_.append(bytes);
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

protected:
    // Of an open file; messages name the path.
    AppendedFile(std::filesystem::path path, int file) : path_(std::move(path)), file_(file) {
        if (file_ < 0) fail(errno);
    }
    // The file to which the path leads now.
    void reopen() {
        const int opened = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (opened < 0) fail(errno);
        if (file_ >= 0) ::close(file_);
        file_ = opened;
    }
    int file() const { return file_; }
    [[noreturn]] void fail(int code) const {
        const std::string why =
            code == ENOSPC ? "the disk is full" : std::generic_category().message(code);
        throw std::runtime_error(path_.string() + " cannot be written: " + why);
    }

private:
    static constexpr size_t most_waiting = 1 << 16;

    std::filesystem::path path_;
    int file_ = -1;
    std::string waiting_;
};

}
