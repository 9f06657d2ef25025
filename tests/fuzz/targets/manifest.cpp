#include "engine/plugins/manifest.h"

#include "engine/base/files.h"
#include "tests/fuzz/images.h"
#include "tests/fuzz/target.h"
#include "tests/support/folders.h"

#include <filesystem>
#include <nacelle/plugin/abi.h>

namespace nacelle::fuzz {
namespace {

constexpr const char* manifest_symbol = "nacelle_plugin";
// A build with debug information makes plugins that are too large to be copied thousands of times.
constexpr size_t most_image = size_t(1) << 19;

class Manifest final : public Target {
public:
    std::vector<std::string> samples() override {
        std::vector<std::string> images;
        for (const char* const folder : {"algorithms", "plugins"})
            for (const auto& entry :
                 std::filesystem::directory_iterator(test::build_path(folder))) {
                if (entry.path().extension() != ".so") continue;
                const std::string image = read_file(entry.path());
                images.push_back(
                    small_image(manifest_symbol, fuzz::content_of(image, manifest_symbol)));
                if (image.size() < most_image) images.push_back(image);
            }
        return images;
    }

    std::string mutated(const std::string& input, const std::string& other, Dice& dice) override {
        return mutated_image(input, manifest_symbol, other, dice, [&](std::span<char> manifest) {
            for (int i = 1 + dice.below(3); i > 0; --i) change(manifest, dice);
        });
    }

    void read(const std::string& input) override { read_manifest(bytes_of(input), "plugin.so"); }

private:
    // A number, the end of a text, or a text.
    static void change(std::span<char> manifest, Dice& dice) {
        if (manifest.size() < 8) return;
        const size_t at = dice.index(manifest.size() - 7);
        if (dice.chance(0.4)) {
            const uint64_t number = odd_number(dice);
            const size_t places[] = {offsetof(nacelle_manifest, abi),
                                     offsetof(nacelle_manifest, size),
                                     offsetof(nacelle_manifest, offers), at & ~size_t(3)};
            const size_t place = places[dice.index(4)];
            if (place + 4 <= manifest.size()) std::memcpy(manifest.data() + place, &number, 4);
            return;
        }
        const std::string text =
            dice.chance(0.5) ? std::string(1 + dice.index(300), 'x') : odd_text(dice);
        std::copy_n(text.begin(), std::min(text.size(), manifest.size() - at),
                    manifest.begin() + ptrdiff_t(at));
    }
};

}

std::unique_ptr<Target> manifest_target() { return std::make_unique<Manifest>(); }

}
