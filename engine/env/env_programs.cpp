#include "engine/env/env_programs.h"

#include "engine/base/error.h"
#include "engine/compile/stand_in.h"

namespace nacelle {

Program& EnvPrograms::add(PendingProgram pending) {
    // A reload came in between.
    if (!same_text(pending.files, code_.files_of(pending.text)))
        pending = code_.begin(pending.text);
    auto program = std::make_unique<Program>(*code_.on, pending.binary.get(),
                                             code_.source.file.filename().string());
    ++recipe_number_;
    Entry& entry = entries_[++next_];
    entry = {std::move(pending.text), std::move(program)};
    show(entry);
    code_.on->stream->synchronize();
    return *entry.program;
}

void EnvPrograms::release(const Program& program) {
    try {
        code_.on->stream->synchronize();    // its kernels may still run
    } catch (const std::exception&) {
        // The device is lost: nothing runs any more.
    }
    recipe_number_ += std::erase_if(
        entries_, [&](const auto& entry) { return entry.second.program.get() == &program; });
}

EnvPrograms::Builds EnvPrograms::run_instead(const std::map<uint64_t, Binary>& builds) {
    Builds others;
    for (const auto& [number, binary] : builds)
        if (find(number))    // else it was released since
            others[number] =
                std::make_unique<Program>(*code_.on, binary, code_.source.file.filename().string());
    exchange_builds(others);
    return others;
}
void EnvPrograms::exchange_builds(Builds& others) {
    code_.on->stream->synchronize();
    for (auto& [number, other] : others) find(number)->exchange_build(*other);
    show();
    code_.on->stream->synchronize();
}

Program* EnvPrograms::find(uint64_t number) const {
    const auto found = entries_.find(number);
    return found == entries_.end() ? nullptr : found->second.program.get();
}

void EnvPrograms::show() {
    for (auto& [number, entry] : entries_) show(entry);
}

void EnvPrograms::show(Entry& entry) const {
    std::span<const std::byte> view = view_.bytes();
    if (entry.text.of_sizes) {
        const std::vector<std::byte> made =
            stand_in_view(entry.program->schema(), code_.schema, view);
        entry.view.assign(made.begin(), made.end());    // in place: graphs hold its address
        view = entry.view;
    }
    entry.program->set_view(*code_.on->stream, view);
}

Recipe EnvPrograms::recipe() const {
    Recipe recipe{
        .source = code_.source, .running = code_.schema, .programs = {}, .number = recipe_number_};
    for (const auto& [number, entry] : entries_) recipe.programs[number] = entry.text;
    return recipe;
}

}
