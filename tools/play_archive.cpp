// Recordings for NumPy: an archive of .npy files.
#include "engine/arrays/dtype.h"
#include "engine/base/error.h"
#include "engine/base/npy.h"
#include "tools/play_export.h"
#include "tools/private_output.h"

#include <minizip/zip.h>
#include <zlib.h>

namespace nacelle::tools {
namespace {

class Archive final {
public:
    explicit Archive(const std::filesystem::path& path)
        : path_(path), file_(path), zip_(::zipOpen64(file_.path().c_str(), APPEND_STATUS_CREATE)) {
        if (!zip_) throw Error(path_.string(), "cannot be written");
    }
    ~Archive() {
        if (zip_) ::zipClose(zip_, nullptr);
    }
    Archive(const Archive&) = delete;
    Archive& operator=(const Archive&) = delete;

    void add(const std::string& name, const NpyArray& array) {
        const std::string bytes = make_npy(array);
        // A constant time, so that equal recordings give equal bytes.
        zip_fileinfo info{};
        info.tmz_date.tm_year = 1980;
        info.tmz_date.tm_mday = 1;
        require(::zipOpenNewFileInZip64(zip_, (name + ".npy").c_str(), &info, nullptr, 0, nullptr,
                                        0, nullptr, Z_DEFLATED, Z_DEFAULT_COMPRESSION, 1));
        constexpr size_t most = size_t(1) << 30;    // minizip counts what it is given by an int
        for (size_t at = 0; at < bytes.size(); at += most)
            require(::zipWriteInFileInZip(zip_, bytes.data() + at,
                                          unsigned(std::min(most, bytes.size() - at))));
        require(::zipCloseFileInZip(zip_));
    }
    void finish() {
        require(::zipClose(std::exchange(zip_, nullptr), nullptr));
        file_.take_place();
    }

private:
    void require(int status) const {
        if (status != ZIP_OK)
            throw Error(path_.string(), "cannot be written: the disk may be full");
    }

    std::filesystem::path path_;
    PrivateOutput file_;
    zipFile zip_;
};

template <class T> NpyArray list_of(const std::vector<T>& values) {
    const auto* const first = reinterpret_cast<const std::byte*>(values.data());
    return {dtype_name(dtype_for<T>()),
            {int64_t(values.size())},
            {first, first + values.size() * sizeof(T)}};
}

int8_t how(const std::string& ended) {
    return ended == "terminated" ? int8_t(1) : ended == "truncated" ? int8_t(2) : int8_t(0);
}

// The rows of each episode.
void add_index(Archive& archive, const Recording& recording, const Selection& selection) {
    std::vector<int64_t> episode, step, environment, steps, trained;
    std::vector<int8_t> ended;
    std::vector<double> returns;
    for (const size_t index : selection.episodes) {
        const EpisodeSummary& one = recording.episodes()[index];
        for (uint64_t t = 0; t < one.steps; ++t) {
            episode.push_back(int64_t(index));
            step.push_back(int64_t(t));
        }
        environment.push_back(one.environment);
        steps.push_back(int64_t(one.steps));
        trained.push_back(one.trained ? int64_t(*one.trained) : -1);
        ended.push_back(how(one.ended));
        returns.push_back(one.returns.empty() ? 0 : one.returns[0]);
    }
    archive.add("index.episode", list_of(episode));
    archive.add("index.step", list_of(step));
    archive.add("episodes.environment", list_of(environment));
    archive.add("episodes.steps", list_of(steps));
    archive.add("episodes.trained", list_of(trained));
    archive.add("episodes.ended", list_of(ended));
    archive.add("episodes.return", list_of(returns));
}

}

void write_npz(const std::filesystem::path& path, const Recording& recording,
               const Selection& selection) {
    const std::vector<RecordedArray>& arrays = recording.header().arrays;
    std::vector<NpyArray> out(arrays.size());
    for (const size_t index : selection.episodes) {
        RecordedEpisode episode = recording.episode(index);
        for (const size_t i : selection.arrays) {
            std::vector<std::byte>& column = episode.columns[i];
            // An episode that was cut has no values at its end: a row of zeros keeps the positions of the others.
            if (arrays[i].moment == Moment::end) column.resize(arrays[i].bytes());
            out[i].data.insert(out[i].data.end(), column.begin(), column.end());
        }
    }
    Archive archive(path);
    add_index(archive, recording, selection);
    for (const size_t i : selection.arrays) {
        out[i].dtype = dtype_name(arrays[i].field.dtype);
        out[i].shape = arrays[i].shape();
        out[i].shape.insert(out[i].shape.begin(), int64_t(out[i].data.size() / arrays[i].bytes()));
        archive.add(arrays[i].name(), out[i]);
        out[i].data = {};
    }
    archive.finish();
}

}
