#pragma once
#include "engine/view/display_list.h"

#include <filesystem>
#include <string>

namespace nacelle::tools {

// A name that ends in .svg or .png says how its picture is written; any other is refused.
void require_picture_file(const std::filesystem::path& out, const std::string& command);
bool is_svg(const std::filesystem::path& out);
void write_picture(const std::filesystem::path& out, const DisplayList& picture,
                   const std::string& title, int pixels);

}
