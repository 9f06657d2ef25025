#pragma once
#include "engine/recording/recording.h"
#include "tests/env/workbench.h"

namespace nacelle::test {

// A small recording, made by hand: three episodes of two environments with a few arrays.
inline RecordingHeader sample_header() {
    const auto array = [](const char* name, Role role, Dtype dtype, Moment moment,
                          std::vector<uint32_t> dims = {}) {
        RecordedArray one;
        std::copy_n(name, std::string_view(name).size() + 1, one.field.name);
        one.field.role = role;
        one.field.dtype = dtype;
        one.field.per = Per::env;
        one.field.rank = uint32_t(dims.size());
        one.field.count = 1;
        for (size_t i = 0; i < dims.size(); ++i) {
            one.field.dims[i] = dims[i];
            one.field.count *= dims[i];
        }
        one.moment = moment;
        return one;
    };
    return {.environment = "Pond",
            .source = "pond.cu",
            .files = {{"pond.cu", "0123456789abcdef0123456789abcdef"}},
            .layout = 0xfedcba9876543210ull,
            .constants = {{"width", 3}},
            .varied = {"depth"},
            .arrays = {array("state.x", Role::state, Dtype::f32, Moment::before),
                       array("state.seen", Role::state, Dtype::u8, Moment::before, {2, 3}),
                       array("reward", Role::reward, Dtype::f32, Moment::step),
                       array("final_obs", Role::final_obs, Dtype::f32, Moment::end, {2})}};
}

inline RecordedEpisode sample_episode(const RecordingHeader& header, uint32_t which, uint64_t steps,
                                      const char* ended) {
    RecordedEpisode episode{.summary = {.environment = which,
                                        .steps = steps,
                                        .ended = ended,
                                        .returns = {double(steps) / 4},
                                        .tick = 7 + which,
                                        .seed = ~uint64_t(0) - which,
                                        .params = {{"gravity", 9.5}},
                                        .trained = 1000},
                            .columns = {}};
    for (const RecordedArray& array : header.arrays) {
        std::vector<std::byte>& column =
            episode.columns.emplace_back(rows_of(array, episode.summary) * array.bytes());
        for (size_t i = 0; i < column.size(); ++i) column[i] = std::byte(i * 7 + which + steps);
    }
    return episode;
}

inline std::vector<RecordedEpisode> sample_episodes(const RecordingHeader& header) {
    return {sample_episode(header, 0, 5, "terminated"), sample_episode(header, 1, 3, "truncated"),
            sample_episode(header, 0, 4, "cut")};
}

// Written with another header, other summaries and other data than a recorder would: the same file, made
// by somebody who knows its checksums. A block is kind, text and data.
struct ForgedBlock {
    std::string kind;
    Json about;
    std::vector<std::byte> data = {};
};
inline std::filesystem::path forged_recording(const std::filesystem::path& path,
                                              const std::vector<ForgedBlock>& blocks) {
    std::string text = recording_prologue();
    for (const ForgedBlock& one : blocks) text += block_text(one.kind, one.about, one.data);
    write_file(path, text);
    return path;
}
// What stands in a recording, to be changed.
inline std::vector<ForgedBlock> blocks_of(const std::filesystem::path& path) {
    const std::string text = read_file(path);
    const std::span all(reinterpret_cast<const std::byte*>(text.data()), text.size());
    std::vector<ForgedBlock> blocks;
    for (size_t at = recording_start; at < all.size();) {
        const auto head = read_block_head(all.subspan(at).first<block_head_size>());
        if (!head) throw std::runtime_error("no block");
        const auto body = all.subspan(at + block_head_size, size_t(head->body()));
        blocks.push_back(
            {std::string(head->name()), *about_of(*head, body), *data_of(*head, body)});
        at += block_head_size + size_t(head->body());
    }
    return blocks;
}

// The bytes of the whole file.
inline std::string sample_recording(const std::filesystem::path& path) {
    const RecordingHeader header = sample_header();
    RecordingWriter writer(path, header, {{"map", std::vector<std::byte>(9, std::byte(3))}});
    for (const RecordedEpisode& episode : sample_episodes(header)) writer.add(episode);
    writer.finish();
    return read_file(path);
}

}
