#include "engine/recording/recording_frames.h"
#include "engine/watch/section_texts.h"
#include "tests/fuzz/json_mutation.h"
#include "tests/fuzz/target.h"
#include "tests/recording/sample.h"

#include <fstream>
#include <stdexcept>
#include <zlib.h>

namespace nacelle::fuzz {
namespace {

uint32_t crc(const std::string& bytes) {
    return uint32_t(::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), uInt(bytes.size())));
}

// A block as the format has it, in parts that can be changed one by one.
struct Part {
    std::string head, about, packed;

    std::string kind() const { return head.substr(0, 4); }
    std::string data() const {
        std::string data(size_t(std::min<uint64_t>(get<uint64_t>(head, 16), 1 << 20)), '\0');
        uLongf size = data.size();
        ::uncompress(reinterpret_cast<Bytef*>(data.data()), &size,
                     reinterpret_cast<const Bytef*>(packed.data()), packed.size());
        return data;
    }
    void set_data(const std::string& data) {
        uLongf size = ::compressBound(data.size());
        packed.resize(size);
        ::compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                    reinterpret_cast<const Bytef*>(data.data()), data.size(), 1);
        packed.resize(size);
        put(head, 16, uint64_t(data.size()));
    }
    // With the sizes and checksums of what it holds now.
    std::string text() {
        put(head, 8, uint64_t(packed.size()));
        put(head, 28, uint32_t(about.size()));
        put(head, 24, crc(about + packed));
        seal();
        return head + about + packed;
    }
    void seal() {
        put(head, 4, uint32_t(0));
        put(head, 4, crc(head));
    }
};

std::vector<Part> parts_of(const std::string& file) {
    std::vector<Part> parts;
    for (size_t at = recording_start; at + block_head_size <= file.size();) {
        Part part{.head = file.substr(at, block_head_size), .about = {}, .packed = {}};
        const uint64_t about = get<uint32_t>(part.head, 28), packed = get<uint64_t>(part.head, 8);
        at += block_head_size;
        if (about > file.size() - at || packed > file.size() - at - about) break;
        part.about = file.substr(at, about);
        part.packed = file.substr(at + about, packed);
        at += about + packed;
        parts.push_back(std::move(part));
    }
    return parts;
}

class RecordingFile final : public Target {
public:
    std::vector<std::string> samples() override {
        using namespace nacelle::test;
        const RecordingHeader header = sample_header();
        std::string many = recording_prologue() + block_text("head", header_json(header), {});
        for (uint32_t i = 0; i < 4; ++i)
            many += episode_text(header, sample_episode(header, i, 2 + i, "terminated"));
        many += block_text("vers", {{"files", {{"pond.cu", "4567"}}}}, {});
        return {sample_recording(folder_.path() / "sample.recording"), many, team_sample()};
    }

    std::string mutated(const std::string& input, const std::string& other, Dice& dice) override {
        std::vector<Part> parts = parts_of(input);
        if (parts.empty() || dice.chance(0.1)) return mutated_bytes(input, other, dice);
        const std::vector<Part> others = parts_of(other);
        std::string file = input.substr(0, recording_start);
        const size_t chosen = dice.index(parts.size());
        const Part& with = others.empty() ? parts[chosen] : others[dice.index(others.size())];
        Part& part = parts[chosen];
        int head_damage = -1;
        switch (dice.below(8)) {
            case 0:
            case 1:
            case 2:
            case 3: part.about = mutated_json_text(part.about, with.about, dice); break;
            case 4: part.set_data(mutated_bytes(part.data(), with.data(), dice)); break;
            case 5: part.packed = mutated_bytes(part.packed, with.packed, dice); break;
            case 6: {
                const Part copy = with;
                if (dice.chance(0.5)) parts.insert(parts.begin() + ptrdiff_t(chosen), copy);
                else if (parts.size() > 1) parts.erase(parts.begin() + ptrdiff_t(chosen));
                break;
            }
            default: head_damage = int(chosen); break;
        }
        for (size_t i = 0; i < parts.size(); ++i) {
            const std::string text = parts[i].text();
            file += int(i) == head_damage ? with_damaged_head(parts[i], dice) : text;
        }
        return file;
    }

    void read(const std::string& input) override {
        const std::filesystem::path path = folder_.path() / "read.recording";
        std::ofstream(path, std::ios::binary) << input;
        const auto recording = std::make_shared<const Recording>(path);
        for (const char* const name : {"map", "mazes", "levels"})
            test::complaint([&] {
                const std::optional<uint64_t> bytes = recording->table_bytes(name);
                if (bytes && recording->table(name).size() != *bytes)
                    throw std::logic_error("a table has another size than it said");
            });
        RecordingFrames frames(recording, {});
        const size_t episodes = std::min<size_t>(recording->episodes().size(), 4);
        for (size_t i = 0; i < episodes; ++i)
            test::complaint([&] { show(frames, i, recording->episodes()[i].steps); });
    }

private:
    static std::string with_damaged_head(Part part, Dice& dice) {
        constexpr size_t places[] = {8, 16, 28};
        const size_t place = places[dice.index(3)];
        if (place == 28) put(part.head, place, uint32_t(odd_number(dice)));
        else put(part.head, place, odd_number(dice));
        if (dice.chance(0.2)) part.head[dice.index(4)] ^= 1;
        if (dice.chance(0.9)) part.seal();
        return part.head + part.about + part.packed;
    }

    // Rows of agents, an image and tables of bits.
    static std::string team_sample() {
        using namespace nacelle::test;
        RecordingHeader header = sample_header();
        for (RecordedArray& array : header.arrays) {
            array.rows = 3;
            array.by_agent = true;
        }
        Field& image = header.arrays[1].field;
        image.role = Role::obs;
        image.kind = Kind::array;
        image.layout = Layout::rows;
        std::string file = recording_prologue() + block_text("head", header_json(header), {});
        for (uint32_t i = 0; i < 2; ++i)
            file += episode_text(header, sample_episode(header, i, 3, i ? "cut" : "truncated"));
        return file + block_text("tabl", {{"name", "map"}}, std::vector<std::byte>(70)) +
               block_text("done", {{"episodes", 2}}, {});
    }

    // What a page or a terminal would show of it.
    static void show(RecordingFrames& frames, size_t episode, uint64_t steps) {
        for (const uint64_t step : {uint64_t(0), uint64_t(1), steps - 1}) {
            const Scene scene = frames.scene(episode, step);
            arrays_text(scene, {});
            arrays_text(scene, {.names = {"state.x", "obs"}, .agent = 2});
            first_number(scene, "reward");
            picture_text(frames.paint(scene));
        }
    }

    const test::Folder folder_;
};

}

std::unique_ptr<Target> recording_target() { return std::make_unique<RecordingFile>(); }

}
