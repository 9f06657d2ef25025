#include "engine/compile/schema.h"

#include "engine/arrays/dtype.h"
#include "engine/env/param_values.h"
#include "tests/env/workbench.h"
#include "tests/fuzz/images.h"
#include "tests/fuzz/target.h"

namespace nacelle::fuzz {
namespace {

constexpr const char* schema_symbol = "nacelle_schema";

class SchemaTable final : public Target {
public:
    // Of environments with numbers, with images, with turns, and of a team.
    std::vector<std::string> samples() override {
        std::vector<std::string> images;
        const std::unique_ptr<Compiler> compiler = open_host_compiler(test::shared_cache());
        for (const char* const name : {"cartpole", "mazes", "connect_four", "tag_gridworld"}) {
            ProgramSource source =
                test::stepwise_program(test::env_folder / (std::string(name) + ".cu"));
            source.instantiation = "#include <nacelle/kernel.h>\nNACELLE_PROGRAM()\n";
            const Compiled compiled = compiler->compile(source);
            if (const auto* const wrong = std::get_if<Diagnostics>(&compiled))
                throw std::runtime_error(wrong->text());
            const std::vector<std::byte> elf = std::get<Binary>(compiled).elf();
            const std::string image(reinterpret_cast<const char*>(elf.data()), elf.size());
            images.push_back(small_image(schema_symbol, content_of(image, schema_symbol)));
            if (image.size() < size_t(1) << 18) images.push_back(image);
        }
        return images;
    }

    std::string mutated(const std::string& input, const std::string& other, Dice& dice) override {
        return mutated_image(input, schema_symbol, other, dice, [&](std::span<char> table) {
            for (int i = 1 + dice.below(3); i > 0; --i) change(table, dice);
        });
    }

    // All that the engine computes from a table before any of its code is run.
    void read(const std::string& input) override {
        const EnvSchema schema = EnvSchema::read(bytes_of(input), "env.so");
        schema.param_names();
        schema.log_names();
        const Header& header = schema.header();
        std::vector<std::byte> view(header.view_size);
        [[maybe_unused]] uint64_t sum = schema.bytes_per_env();
        for (const Field& field : schema.fields()) {
            if (field.slot < 0) continue;
            for (const size_t envs : {size_t(1), size_t(4096), size_t(1) << 30}) {
                const double bytes = double(field.count) * double(schema.rows(field, envs)) *
                                     double(dtype_size(field.dtype));
                if (bytes != double(schema.elements(field, envs) * dtype_size(field.dtype)))
                    throw std::logic_error("the size of an array overflows");
                for (const int64_t size : schema.shape(field, envs)) sum += uint64_t(size);
            }
            std::memset(view.data() + header.array_offset + size_t(field.slot) * sizeof(void*), 1,
                        sizeof(void*));
        }
        ParamValues params(schema, std::vector<std::byte>(header.params_size), "run.json");
        std::copy(params.bytes().begin(), params.bytes().end(),
                  view.begin() + ptrdiff_t(header.params_offset));
        for (const std::string& name : schema.param_names()) {
            test::complaint([&] { params.set(name, 1); });
            if (schema.find("param." + name)->count < 1 << 16) params.get(name);
        }
    }

private:
    static void change(std::span<char> table, Dice& dice) {
        if (table.size() < 8) return;
        const size_t unit = size_t(1) << dice.below(3);    // bytes, shorts, ints
        const size_t region =
            dice.chance(0.3) ? std::min(table.size(), sizeof(Header)) : table.size();
        const size_t at = dice.index(region / unit) * unit;
        const uint64_t number = odd_number(dice);
        if (dice.chance(0.85)) std::memcpy(table.data() + at, &number, unit);
        else std::memset(table.data() + at, 'x', std::min<size_t>(table.size() - at, 120));
    }
};

}

std::unique_ptr<Target> schema_target() { return std::make_unique<SchemaTable>(); }

}
