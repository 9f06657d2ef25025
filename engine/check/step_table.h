#pragma once
#include "engine/env/environment.h"

#include <filesystem>

namespace nacelle {

// One step of one environment, written down by an author: the state before it, the actions, and the expected state
// after it. The objects hold arrays by name, as "state.x": 0.5.
struct TableStep {
    std::string name, path;    // path: "steps[2]", for messages
    Json before, actions, after;
};

// NAME.test.json, beside an environment's source.
struct StepTable {
    std::string where;    // the file's name
    double tolerance = 1e-5;
    std::map<std::string, double> constants;
    Json params = Json::object();
    std::vector<TableStep> steps;
};

std::filesystem::path step_table_path(const std::filesystem::path& source);
// Throws with file, path and reason where the form is wrong.
StepTable read_step_table(const std::filesystem::path& file);

// Writes the state before step i and its actions into environment i. Throws where an array, a count of numbers or a
// number is wrong.
void put_steps(Environment& env, const StepTable& table);
// For each wrong step the first number that differs, in words: "the wall stops it: state.x is 0.97, expected 1".
std::vector<std::string> wrong_steps(Environment& env, const StepTable& table);

}
