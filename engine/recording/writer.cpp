#include "engine/recording/writer.h"

#include "engine/base/error.h"

#include <cerrno>
#include <fcntl.h>
#include <system_error>

namespace nacelle {
namespace {

// Refuses what Recording would not open.
const RecordingHeader& readable(const RecordingHeader& header, const std::filesystem::path& path) {
    read_header(header_json(header), path.string());
    return header;
}

int create(const std::filesystem::path& path) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (file >= 0) return file;
    if (errno == EEXIST)
        throw Error(path.string(), "is there already", "a recording overwrites nothing");
    throw Error(path.string(), "cannot be written: " + std::generic_category().message(errno));
}

}

RecordingWriter::RecordingWriter(const std::filesystem::path& path, const RecordingHeader& header,
                                 const std::vector<RecordedTable>& tables)
    : path_(path), header_(readable(header, path)), file_(create(path)) {
    append(recording_prologue() + block_text("head", header_json(header), {}));
    for (const RecordedTable& table : tables)
        append(block_text("tabl", {{"name", table.name}}, table.data));
}

void RecordingWriter::add(const RecordedEpisode& episode) {
    append(episode_text(header_, episode));
    ++episodes_;
}

void RecordingWriter::add_version(const std::map<std::string, std::string>& files) {
    append(block_text("vers", {{"files", files}}, {}));
}

void RecordingWriter::finish() {
    append(block_text("done", {{"episodes", episodes_}}, {}));
    if (::fsync(file_.get()) != 0 || !file_.close())
        throw Error(path_.string(), "cannot be written: " + std::generic_category().message(errno));
}

void RecordingWriter::append(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0)
            throw Error(path_.string(),
                        "cannot be written: " + std::generic_category().message(errno),
                        "it holds " + std::to_string(episodes_) + " whole episodes");
        bytes.remove_prefix(size_t(count));
    }
}

}
