#include "engine/web/files.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/web/page_files.h"

#include <filesystem>

namespace nacelle {
namespace {

// Where Debian's libjs-chart.js puts it.
constexpr const char* chart_library = "/usr/share/javascript/chart.js/chart.min.js";

std::string type_of(const std::string& name) {
    const std::string suffix = std::filesystem::path(name).extension().string();
    const char* const kind = suffix == ".html"  ? "text/html"
                             : suffix == ".css" ? "text/css"
                                                : "text/javascript";
    return std::string(kind) + "; charset=utf-8";
}

}

std::vector<WebFile> web_files() {
    std::vector<WebFile> files;
    for (const EmbeddedFile& file : page_files()) {
        const std::string name = std::filesystem::path(file.name).filename().string();
        files.push_back({name, type_of(name), file.text});
    }
    try {
        files.push_back({"chart.js", type_of("chart.js"), read_file(chart_library)});
    } catch (const Error&) {
        // The page says that charts are missing, and names the package.
    }
    return files;
}

const WebFile* find_file(const std::vector<WebFile>& files, std::string_view name) {
    for (const WebFile& file : files)
        if (file.name == name) return &file;
    return nullptr;
}

}
