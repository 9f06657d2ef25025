#include "tools/picture_file.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/view/svg.h"
#include "tools/play_export.h"

namespace nacelle::tools {

bool is_svg(const std::filesystem::path& out) { return out.extension() == ".svg"; }

void require_picture_file(const std::filesystem::path& out, const std::string& command) {
    if (is_svg(out) || out.extension() == ".png") return;
    throw Error("--out", out.string() + " is no kind of file that '" + command + "' writes",
                "a name that ends in .svg or .png");
}

void write_picture(const std::filesystem::path& out, const DisplayList& picture,
                   const std::string& title, int pixels) {
    if (is_svg(out)) write_file(out, svg_text(picture, title, pixels));
    else write_png(out, picture, pixels);
}

}
