#include "engine/base/error.h"
#include "engine/base/other_writer.h"
#include "tools/commands.h"
#include "tools/new_name.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/skeletons.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace nacelle::tools {
namespace fs = std::filesystem;
namespace {

struct NewCommand {
    std::string name;
    fs::path out;
    bool team = false, continuous = false, json = false;
};

// A file to be written, and its purpose.
struct NewFile {
    fs::path path;
    std::string text;
    const char* purpose;
};

std::string skeleton(const std::string& name) {
    for (const EmbeddedFile& file : skeleton_files())
        if (file.name == "skeletons/" + name) return file.text;
    throw Error(name, "is not among the skeletons of this binary");
}

std::string replaced(std::string text, const std::string& word, const std::string& by) {
    for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + by.size()))
        text.replace(at, word.size(), by);
    return text;
}

// --out, else env_sources where the working directory has it, else the working directory.
fs::path target_folder(const NewCommand& command) {
    if (!command.out.empty()) {
        if (fs::exists(command.out) && !fs::is_directory(command.out))
            throw Error(command.out.string(), "is no directory");
        return command.out;
    }
    return fs::is_directory("env_sources") ? "env_sources" : ".";
}

// Writes a file that must not exist.
void write_new(const NewFile& file) {
    std::FILE* const stream = std::fopen(file.path.c_str(), "wx");
    if (!stream) throw Error(file.path.string(), std::strerror(errno));
    const bool whole =
        std::fwrite(file.text.data(), 1, file.text.size(), stream) == file.text.size();
    const int code = errno;
    if (std::fclose(stream) == 0 && whole) return;
    fs::remove(file.path);
    throw Error(file.path.string(), std::strerror(whole ? errno : code));
}

// Writes all files or none.
void write_all(const std::vector<NewFile>& files) {
    for (const NewFile& file : files)
        if (fs::exists(file.path))
            throw Error(file.path.string(), "is there already", "nothing is ever overwritten");
    for (size_t i = 0; i < files.size(); ++i) {
        try {
            write_new(files[i]);
        } catch (const Error&) {
            for (size_t k = 0; k < i; ++k) fs::remove(files[k].path);
            throw;
        }
    }
}

// How later commands name it: by name where names are looked up, else by path.
std::string called(const NewCommand& command, const fs::path& folder) {
    std::error_code error;
    for (const fs::path& known : named_folders())
        if (fs::equivalent(known, folder, error)) return command.name;
    return (folder / (command.name + ".cu")).string();
}

void run(const NewCommand& command) {
    require_good_name(command.name);
    const fs::path folder = target_folder(command);
    std::vector<fs::path> folders = named_folders();
    folders.push_back(folder);
    require_free_name(command.name, folders);

    const std::string kind =
        std::string(command.team ? "team" : "alone") + (command.continuous ? "_continuous" : "");
    std::vector<NewFile> files;
    const std::pair<const char*, const char*> parts[] = {{".cu", "the environment"},
                                                         {".json", "how it is trained"},
                                                         {".test.json", "what single steps do"}};
    for (const auto& [suffix, purpose] : parts) {
        const std::string text =
            replaced(skeleton(kind + suffix), "Skeleton", struct_name(command.name));
        files.push_back(
            {folder / (command.name + suffix), replaced(text, "skeleton", command.name), purpose});
    }
    fs::create_directories(folder);
    write_all(files);

    const std::string env = called(command, folder);
    if (command.json) {
        Json line = {{"name", command.name},
                     {"struct", struct_name(command.name)},
                     {"environment", env},
                     {"files", Json::array()}};
        for (const NewFile& file : files) line["files"].push_back(file.path.string());
        print_json(line);
        return;
    }
    for (const NewFile& file : files)
        std::printf("%-40s %s\n", file.path.lexically_normal().c_str(), file.purpose);
    // The launcher as it was called: that of a checkout is not on PATH. Nobody is told to run another user's program.
    const bool own = fs::exists("tools/nacelle") && other_writer("tools/nacelle").empty();
    const std::string program = own ? "tools/nacelle" : "nacelle";
    std::printf("\n");
    for (const auto& [words, purpose] :
         {std::pair("watch " + env + " --web", "see it while you change it"),
          std::pair("check " + env, "hold it to its contract"),
          std::pair("train " + env, "learn it")})
        std::printf("%-40s %s\n", (program + " " + words).c_str(), purpose);
}

}

void add_new(CommandLine& line) {
    auto values = std::make_shared<NewCommand>();
    Command command =
        line.add("new", "Write a new environment that can be checked and trained as it is");
    command.option("name", values->name, "Its name, as in big_pond: the file's, without .cu")
        .required();
    command.flag("--team", values->team, "Several agents that act at the same time");
    command.flag("--continuous", values->continuous, "Actions that are real numbers");
    command.option("--out", values->out,
                   "The folder for it; else env_sources where there is one here, else here");
    command.flag("--json", values->json,
                 "One JSON object per line, nothing else on standard output");
    command.run([values] { run(*values); });
}

}
