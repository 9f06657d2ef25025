#include "engine/recording/recording.h"

#include "engine/base/error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>

namespace nacelle {
namespace {

int open_to_read(const std::filesystem::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file >= 0) return file;
    throw Error(path.string(), errno == ENOENT
                                   ? "does not exist"
                                   : "cannot be read: " + std::generic_category().message(errno));
}

uint64_t size_of(const Descriptor& file, const std::filesystem::path& path) {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0)
        throw Error(path.string(), "cannot be read: " + std::generic_category().message(errno));
    if (!S_ISREG(status.st_mode))
        throw Error(path.string(), "is no file",
                    "name a recording, such as those of a run's "
                    "folder 'recordings'");
    return uint64_t(status.st_size);
}

std::string bytes_text(uint64_t bytes) {
    return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::span<const std::byte, block_head_size> as_head(const std::vector<std::byte>& bytes) {
    return std::span<const std::byte, block_head_size>(bytes.data(), block_head_size);
}

}

Recording::Recording(const std::filesystem::path& path)
    : path_(path), file_(open_to_read(path)), size_(size_of(file_, path)) {
    read_start();
    if (!finished_ && problems_.empty())
        problems_.push_back("was not finished: the program that wrote it ended before its time");
}

// The magic, the version and the header, without which nothing can be read.
void Recording::read_start() {
    const std::string where = path_.string(), wanted = recording_prologue();
    if (size_ == 0) throw Error(where, "is empty");
    const std::vector<std::byte> start =
        read(0, size_t(std::min<uint64_t>(size_, recording_start)));
    const size_t magic = std::min(start.size(), recording_magic.size());
    if (std::memcmp(start.data(), wanted.data(), magic) != 0)
        throw Error(where, "is no recording: it does not begin as one");
    const auto cut = [&](const char* in) {
        return Error(where, "is cut short: its " + bytes_text(size_) + " end in " + in,
                     "it holds no episode");
    };
    if (start.size() < recording_start) throw cut("its first line");
    if (std::memcmp(start.data(), wanted.data(), recording_start) != 0) {
        uint32_t version = 0;
        std::memcpy(&version, start.data() + recording_magic.size(), sizeof version);
        throw Error(where, "is a recording of version " + std::to_string(version) +
                               ", or damaged; this engine reads version " +
                               std::to_string(recording_version));
    }
    if (size_ < recording_start + block_head_size) throw cut("its header");
    const auto head = read_block_head(as_head(read(recording_start, block_head_size)));
    const Error damaged(where, "its header is damaged", "nothing behind it can be read");
    if (!head || head->name() != "head") throw damaged;
    const uint64_t at = recording_start + block_head_size;
    if (head->body() > size_ - at) throw cut("its header");
    const std::vector<std::byte> body = read(at, size_t(head->body()));
    if (!is_whole(*head, body)) throw damaged;
    const std::optional<Json> about = about_of(*head, body);
    if (!about) throw damaged;
    header_ = read_header(*about, where);
    versions_ = {header_.files};
    read_blocks(at + head->body());
}

void Recording::read_blocks(uint64_t at) {
    while (at < size_) {
        const uint64_t left = size_ - at;
        if (finished_) return drop(left, "stand behind its end");
        if (left < block_head_size) return drop(left, "are the start of an episode that is cut");
        const auto head = read_block_head(as_head(read(at, block_head_size)));
        if (!head) return drop(left, "begin with damaged ones, so that nothing in them is found");
        const uint64_t whole = block_head_size + head->body();
        if (whole > left) return drop(left, "are the start of an episode that is cut");
        const Place place{.at = at + block_head_size, .head = *head};
        const std::vector<std::byte> body = read(place.at, size_t(head->body()));
        const std::optional<Json> about =
            is_whole(*head, body) ? about_of(*head, body) : std::nullopt;
        if (about) take(place, *about);
        else drop(whole, "are damaged in the middle");
        at += whole;
    }
}

// Kinds that are not known here may come from a later engine, and nothing else depends on them.
void Recording::take(const Place& place, const Json& about) {
    try {
        const std::string_view kind = place.head.name();
        if (kind == "tabl") tables_.emplace_back(about.at("name"), place);
        if (kind == "vers")
            versions_.push_back(about.at("files").get<std::map<std::string, std::string>>());
        if (kind == "done") finished_ = true;
        if (kind != "epis") return;
        summaries_.push_back(read_summary(about));
        episodes_.push_back(place);
    } catch (const Json::exception&) {
        drop(block_head_size + place.head.body(), "are no episode that this engine understands");
    }
}

void Recording::drop(uint64_t bytes, const std::string& why) {
    dropped_ += bytes;
    problems_.push_back(bytes_text(bytes) + " behind episode " + std::to_string(summaries_.size()) +
                        " " + why);
}

std::vector<std::byte> Recording::read(uint64_t at, size_t count) const {
    std::vector<std::byte> bytes(count);
    for (size_t filled = 0; filled < count;) {
        const ssize_t now =
            ::pread(file_.get(), bytes.data() + filled, count - filled, off_t(at + filled));
        if (now < 0 && errno == EINTR) continue;
        if (now < 0)
            throw Error(path_.string(),
                        "cannot be read: " + std::generic_category().message(errno));
        if (now == 0) throw Error(path_.string(), "was cut while it was read");
        filled += size_t(now);
    }
    return bytes;
}

std::vector<std::byte> Recording::unpacked(const Place& place, const std::string& what) const {
    const std::vector<std::byte> body = read(place.at, size_t(place.head.body()));
    if (is_whole(place.head, body))
        if (auto data = data_of(place.head, body)) return *std::move(data);
    throw Error(path_.string(), what + " cannot be unpacked");
}

RecordedEpisode Recording::episode(size_t index) const {
    if (index >= episodes_.size())
        throw Error(path_.string(), "there is no episode " + std::to_string(index),
                    episodes_.empty() ? "there is none"
                                      : "there are 0 to " + std::to_string(episodes_.size() - 1));
    const std::string what = "episode " + std::to_string(index);
    auto found = read_episode(header_, summaries_[index], unpacked(episodes_[index], what));
    if (!found) throw Error(path_.string(), what + " has another size than its header says");
    return *std::move(found);
}

std::vector<RecordedTable> Recording::tables() const {
    std::vector<RecordedTable> tables;
    for (const auto& [name, place] : tables_)
        tables.push_back({name, unpacked(place, "the table '" + name + "'")});
    return tables;
}

}
