#include "engine/base/error.h"
#include "engine/config/config.h"
#include "tools/commands.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <unistd.h>

namespace nacelle::tools {
namespace fs = std::filesystem;
namespace {

struct SweepCommand {
    std::string file, out, search, backend, runner;
    std::optional<uint64_t> trials, side_by_side;
    bool json = false;
};

// A sweep runs no code of the working directory. To Python an empty word of PYTHONPATH is that directory.
void forget_empty_words() {
    constexpr const char* variable = "PYTHONPATH";
    const char* const set = std::getenv(variable);
    std::istringstream words(set ? set : "");
    std::string kept;
    for (std::string word; std::getline(words, word, ':');)
        if (!word.empty()) kept += (kept.empty() ? "" : ":") + word;
    if (kept.empty()) ::unsetenv(variable);
    else ::setenv(variable, kept.c_str(), 1);
}
constexpr const char* program = R"(
import sys
sys.path = [folder for folder in sys.path if folder]
try:
    from nacelle.sweep_command import main
except ImportError as error:
    sys.exit(f"sweep: needs the Python package, which {sys.executable} does not have ({error}): in a clone of Nacelle "
             "python3 -m venv sweeps-python && sweeps-python/bin/pip install '.[sweep]' installs it, and "
             "sweeps-python/bin/python -m nacelle sweep SWEEP.json runs the sweep")
sys.exit(main(*sys.argv[1:]))
)";

// What the command line sets, in the words of the file.
Json changes_of(const SweepCommand& sweep) {
    Json changes = Json::object();
    if (!sweep.out.empty()) changes["out"] = sweep.out;
    if (!sweep.search.empty()) changes["search"] = sweep.search;
    if (!sweep.backend.empty()) changes["device"] = sweep.backend;
    if (!sweep.runner.empty()) changes["runner"] = sweep.runner;
    if (sweep.trials) changes["trials"] = *sweep.trials;
    if (sweep.side_by_side) changes["side_by_side"] = *sweep.side_by_side;
    return changes;
}

// Becomes Python, whose package proposes the settings and trains with them in processes of this program.
void run(const SweepCommand& sweep) {
    const char* const named = std::getenv("NACELLE_PYTHON");
    const std::string python = named && *named ? named : "python3";
    const std::string changes = json_text(changes_of(sweep));
    std::vector<const char*> words = {python.c_str(), "-c", program, sweep.file.c_str(),
                                      changes.c_str()};
    if (sweep.json) words.push_back("--json");
    words.push_back(nullptr);
    forget_empty_words();
    execvp(python.c_str(), const_cast<char* const*>(words.data()));
    throw Error("sweep", "needs Python 3.10 or later, and " + python + " cannot be run",
                "another one by NACELLE_PYTHON=/path/of/python3");
}

}

void add_sweep(CommandLine& line) {
    auto sweep = std::make_shared<SweepCommand>();
    Command command = line.add("sweep", "Train with varied settings, and find the best");
    command.option("file", sweep->file, "A file of JSON that says what is varied").required();
    command.option("--out", sweep->out, "Directory of the sweep; the file's, or sweeps/NAME");
    command.option("--trials", sweep->trials, "How many trials; the file's, or 20")
        .between(uint64_t(1), uint64_t(1000000));
    command
        .option("--side-by-side", sweep->side_by_side,
                "How many trials run at a time; the file's, or 1")
        .between(uint64_t(1), uint64_t(1024));
    command.option("--search", sweep->search, "How settings are chosen; the file's, or random")
        .one_of({"grid", "random", "bayesian", "population"});
    command.option("--backend", sweep->backend, "Where to run; the file's, or auto")
        .one_of({"auto", "cuda", "cpu"});
    command
        .option(
            "--runner", sweep->runner,
            "What runs the trials: this machine, an array of Slurm or Ray; the file's, or local")
        .one_of({"local", "slurm", "ray"});
    command.flag("--json", sweep->json,
                 "One JSON object per line, nothing else on standard output");
    command.run([sweep] { run(*sweep); });
}

}
