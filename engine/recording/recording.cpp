#include "engine/recording/recording.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/compile/layout_defines.h"
#include "engine/device/cpu/machine.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <system_error>

namespace nacelle {
namespace {

uint64_t size_of(const Descriptor& file, const std::filesystem::path& path) {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0)
        throw Error(path.string(), "cannot be read: " + std::generic_category().message(errno));
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
    : path_(path), file_(open_plain_file(path)), size_(size_of(file_, path)) {
    read_start();
    if (!finished_ && problems_.empty())
        problems_.push_back("was not finished: the program that wrote it ended before its time");
}

// Magic, version and header; without them nothing can be read.
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
    if (!about)
        throw Error(where, "has a header that this engine does not understand",
                    "a JSON object of printable text that nests at most 100 deep");
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
        if (!is_whole(*head, body)) drop(whole, "are damaged in the middle");
        else if (const std::optional<Json> about = about_of(*head, body)) take(place, *about);
        else drop(whole, "hold no text that this engine understands");
        at += whole;
    }
}

// Unknown kinds may come from a later engine; no known block depends on them.
void Recording::take(const Place& place, const Json& about) {
    const std::string_view kind = place.head.name();
    try {
        if (kind == "tabl") take_table(place, about);
        if (kind == "vers") versions_.push_back(read_files(about.at("files"), header_.source));
        if (kind == "done") finished_ = true;
        if (kind == "epis") take_episode(place, about);
    } catch (const std::exception&) {
        const std::string what = kind == "epis" ? "episode" : kind == "tabl" ? "table" : "version";
        drop(block_head_size + place.head.body(),
             "are no " + what + " that this engine understands");
    }
}

void Recording::take_table(const Place& place, const Json& about) {
    const std::string name = about.at("name");
    if (!is_dotted_name(name) || !tables_.emplace(name, place).second)
        throw Error("name", "is no name of a further table");
}

void Recording::take_episode(const Place& place, const Json& about) {
    EpisodeSummary summary = read_summary(about, header_);
    if (episode_bytes(header_, summary) != place.head.unpacked)
        throw Error("steps", "are not those of the arrays");
    summaries_.push_back(std::move(summary));
    episodes_.push_back(place);
}

void Recording::drop(uint64_t bytes, const std::string& why) {
    dropped_ += bytes;
    problems_.push_back(bytes_text(bytes) + " behind episode " + std::to_string(summaries_.size()) +
                        " " + why);
}

template <class Take>
auto Recording::with_memory(uint64_t bytes, const std::string& what, Take take) const {
    // The kernel overcommits memory and kills the process on its use: check first. Small amounts are assumed, since
    // the check takes time.
    constexpr uint64_t small = uint64_t(64) << 20;
    const uint64_t left = bytes > small ? machine_memory_free() : bytes;
    try {
        if (bytes <= left) return take();
    } catch (const std::bad_alloc&) {
    } catch (const std::length_error&) {}
    throw Error(path_.string(), what + " takes " + bytes_text(bytes) + " of memory",
                "this machine has not got them");
}

std::vector<std::byte> Recording::read(uint64_t at, size_t count) const {
    auto bytes = with_memory(count, "a block", [&] { return std::vector<std::byte>(count); });
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
        if (auto data =
                with_memory(place.head.unpacked, what, [&] { return data_of(place.head, body); }))
            return *std::move(data);
    throw Error(path_.string(), what + " cannot be unpacked");
}

RecordedEpisode Recording::episode(size_t index) const {
    if (index >= episodes_.size())
        throw Error(path_.string(), "there is no episode " + std::to_string(index),
                    episodes_.empty() ? "there is none"
                                      : "there are 0 to " + std::to_string(episodes_.size() - 1));
    const std::string what = "episode " + std::to_string(index);
    // Memory for the unpacked data and for each array.
    const uint64_t bytes = 2 * episodes_[index].head.unpacked;
    auto found = with_memory(bytes, what, [&] {
        return read_episode(header_, summaries_[index], unpacked(episodes_[index], what));
    });
    if (!found) throw Error(path_.string(), what + " has another size than its header says");
    return *std::move(found);
}

std::optional<uint64_t> Recording::table_bytes(const std::string& name) const {
    const auto found = tables_.find(name);
    if (found == tables_.end()) return std::nullopt;
    return found->second.head.unpacked;
}

std::vector<std::byte> Recording::table(const std::string& name) const {
    const auto found = tables_.find(name);
    if (found == tables_.end()) throw Error(path_.string(), "holds no table '" + name + "'");
    return unpacked(found->second, "the table '" + name + "'");
}

}
