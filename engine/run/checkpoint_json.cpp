#include "engine/run/checkpoint_json.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/hash.h"
#include "engine/base/text.h"
#include "engine/config/config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace nacelle {
namespace fs = std::filesystem;
namespace {

constexpr int format = 1;

// A bound: the steps of a run end at 2^53. Sums below it do not overflow.
constexpr uint64_t largest_count = uint64_t(1) << 62;

std::string hex(uint64_t value) {
    char text[20];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
    return text;
}

Json score_json(const std::optional<CheckpointRecord::Score>& score) {
    if (!score) return nullptr;
    return {{"return", score->mean_return}, {"steps", score->steps}};
}

Json record_json(const CheckpointRecord& record) {
    Json json = {{"format", format},
                 {"environment", record.environment},
                 {"learner", record.learner},
                 {"layout", hex(record.layout)},
                 {"spaces", hex(record.spaces)},
                 {"files", record.files.files},
                 {"iteration", record.iteration},
                 {"steps", record.steps},
                 {"tick", record.tick},
                 {"evaluation", score_json(record.evaluation)},
                 {"best", score_json(record.best)}};
    if (!record.files.tables.is_null()) json["tables"] = record.files.tables;
    if (!record.policies.is_null()) json["policies"] = record.policies;
    if (!record.problem.is_null()) json["problem"] = record.problem;
    return json;
}

// Reads one object of the JSON key by key.
class Fields final {
public:
    Fields(const Json& json, const fs::path& path, std::string prefix = {})
        : json_(json), path_(path), prefix_(std::move(prefix)) {}

    std::string text(const char* key) const {
        const Json& found = at(key);
        // It appears in messages.
        if (!found.is_string() || !is_printable_line(found.get<std::string>()))
            fail(key, "is no plain text");
        return found.get<std::string>();
    }
    uint64_t whole_number(const char* key) const {
        const Json& found = at(key);
        if (!found.is_number_unsigned() || found.get<uint64_t>() > largest_count)
            fail(key, "is no whole number from 0 to 2^62");
        return found.get<uint64_t>();
    }
    double number(const char* key) const {
        const Json& found = at(key);
        if (!found.is_number() || !std::isfinite(found.get<double>())) fail(key, "is no number");
        return found.get<double>();
    }
    uint64_t hex_number(const char* key) const {
        const Json& found = at(key);
        const std::string digits = found.is_string() ? found.get<std::string>() : "";
        if (!is_hex(digits, 16)) fail(key, "is no text of 16 hexadecimal digits");
        uint64_t value = 0;
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
        return value;
    }
    Json texts(const char* key) const {
        const Json& found = at(key);
        const auto is_text = [](const Json& value) { return value.is_string(); };
        if (!found.is_object() || !std::all_of(found.begin(), found.end(), is_text))
            fail(key, "is no object of texts");
        return found;
    }
    // Null where it is missing, as in checkpoints of earlier versions.
    Json object_or_null(const char* key) const {
        const auto found = json_.find(key);
        if (found == json_.end()) return nullptr;
        if (!found->is_object()) fail(key, "is no object");
        return *found;
    }
    Fields object(const char* key) const {
        const Json& found = at(key);
        if (!found.is_object()) fail(key, "is no object");
        return Fields(found, path_, prefix_ + key + ".");
    }
    std::optional<CheckpointRecord::Score> score(const char* key) const {
        if (at(key).is_null()) return {};
        const Fields its = object(key);
        return CheckpointRecord::Score{its.number("return"), its.whole_number("steps")};
    }

private:
    const Json& at(const char* key) const {
        const auto found = json_.find(key);
        if (found == json_.end()) fail(key, "is missing");
        return *found;
    }
    [[noreturn]] void fail(const char* key, const std::string& what) const {
        throw Error(path_.string(), "is damaged: its '" + prefix_ + key + "' " + what);
    }

    const Json& json_;
    const fs::path& path_;
    std::string prefix_;
};

CheckpointRecord record_of(const Fields& fields) {
    return {.environment = fields.text("environment"),
            .learner = fields.text("learner"),
            .layout = fields.hex_number("layout"),
            .spaces = fields.hex_number("spaces"),
            .files = {.files = fields.texts("files"), .tables = fields.object_or_null("tables")},
            .iteration = fields.whole_number("iteration"),
            .steps = fields.whole_number("steps"),
            .tick = fields.whole_number("tick"),
            .evaluation = fields.score("evaluation"),
            .best = fields.score("best"),
            .policies = fields.object_or_null("policies"),
            .problem = fields.object_or_null("problem")};
}

// The checksum of the JSON covers its text without the checksum.
Json unsealed(const std::string& text, const fs::path& path) {
    Json json = try_parse_json(text).value_or(Json());
    if (!json.is_object() || !json.contains("seal"))
        throw Error(path.string(), "is damaged: it is no checkpoint's JSON");
    const Json seal = json["seal"];
    json.erase("seal");
    if (seal != checkpoint_checksum(json_text(json)))
        throw Error(path.string(), "is damaged: its checksum is another one");
    const uint64_t its = Fields(json, path).whole_number("format");
    if (its != format)
        throw Error(path.string(), "is of format " + std::to_string(its) + "; this program reads " +
                                       std::to_string(format));
    return json;
}

}

std::string checkpoint_checksum(std::string_view bytes) { return Hash().add(bytes).hex(); }

std::string checkpoint_text(const CheckpointJson& checkpoint) {
    Json json = record_json(checkpoint.record);
    json["tensors"] = {
        {"file", checkpoint.file}, {"bytes", checkpoint.bytes}, {"checksum", checkpoint.checksum}};
    json["seal"] = checkpoint_checksum(json_text(json));
    return json_text(json, 2) + "\n";
}

CheckpointJson read_checkpoint_json(const fs::path& path) {
    return checkpoint_of_text(read_plain_file(path), path);
}

CheckpointJson checkpoint_of_text(const std::string& text, const fs::path& path) {
    const Json json = unsealed(text, path);
    const Fields fields(json, path), tensors = fields.object("tensors");
    return {.record = record_of(fields),
            .file = tensors.text("file"),
            .bytes = tensors.whole_number("bytes"),
            .checksum = tensors.text("checksum")};
}

}
