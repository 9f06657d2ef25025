#include "engine/base/error.h"
#include "engine/base/text.h"
#include "tools/commands.h"
#include "tools/output.h"
#include "tools/picture_file.h"
#include "tools/plot_picture.h"
#include "tools/plot_web.h"
#include "tools/units.h"

#include <cstdio>

namespace nacelle::tools {
namespace fs = std::filesystem;
namespace {

struct PlotCommand {
    std::vector<fs::path> runs;
    std::vector<std::string> metrics;
    std::string x = "steps";
    fs::path out;
    int pixels = 0;    // 0: as the format has it
    WebOptions web;
    bool json = false;
};

constexpr int svg_pixels = 800, png_pixels = 1600;

fs::path file_for(const std::vector<RunGroup>& groups) {
    const std::string first = folder_name(groups.front().path);
    return first + (groups.size() > 1 ? "-compared.svg" : ".svg");
}

std::string amount(double x, Abscissa abscissa) {
    return abscissa == Abscissa::steps ? count_text(x) + " steps" : duration_text(x);
}

void say_what_is_left_out(const PlotPanel& panel, const std::vector<RunGroup>& groups,
                          Abscissa abscissa) {
    for (size_t i = 0; i < groups.size(); ++i) {
        const Curve& curve = panel.curves[i];
        const std::string name = printable(curve.name + ", " + panel.metric);
        if (const size_t missing = groups[i].runs.size() - curve.runs)
            std::printf("%s: %zu of %zu runs have no readings of it\n", name.c_str(), missing,
                        groups[i].runs.size());
        if (curve.runs > 1 && curve.longest > curve.x.back())
            std::printf("%s: drawn up to %s, which all %zu runs have; the longest has %s\n",
                        name.c_str(), amount(curve.x.back(), abscissa).c_str(), curve.runs,
                        amount(curve.longest, abscissa).c_str());
    }
}

Json plot_json(const PlotCommand& plot, const std::vector<PlotPanel>& panels) {
    Json line = {{"kind", "plot"}, {"out", plot.out.string()}, {"x", plot.x}};
    for (const PlotPanel& panel : panels)
        for (const Curve& curve : panel.curves)
            line["curves"].push_back({{"run", curve.name},
                                      {"metric", panel.metric},
                                      {"runs", curve.runs},
                                      {"from", curve.x.front()},
                                      {"to", curve.x.back()},
                                      {"longest", curve.longest},
                                      {"last", curve.mean.back()}});
    return line;
}

// A run that has no metrics, such as a seed that failed at once, is left out where others of its folder have some.
std::vector<RunSeries> series_of(const RunGroup& group) {
    std::vector<RunSeries> series;
    for (const fs::path& run : group.runs) {
        try {
            series.push_back(read_series(run));
        } catch (const Error&) {
            if (group.runs.size() == 1) throw;
        }
    }
    return series;
}

std::vector<PlotPanel> panels_of(const PlotCommand& plot, const std::vector<RunGroup>& groups,
                                 Abscissa abscissa) {
    std::vector<PlotPanel> panels;
    for (const std::string& metric : plot.metrics) panels.push_back({metric, {}});
    for (const RunGroup& group : groups) {
        const std::vector<RunSeries> series = series_of(group);
        for (PlotPanel& panel : panels)
            panel.curves.push_back(curve_of(group, series, panel.metric, abscissa));
    }
    return panels;
}

// On a page, with the seeds that begin and the readings that come meanwhile.
void run_on_page(const PlotCommand& plot, Abscissa abscissa) {
    plot_on_page(
        plot.runs,
        [&] { return plot_picture(panels_of(plot, run_groups(plot.runs), abscissa), abscissa); },
        plot.web, plot.json);
}

void run(PlotCommand& plot) {
    if (!plot.out.empty()) require_picture_file(plot.out, "plot");
    const std::vector<RunGroup> groups = run_groups(plot.runs);
    if (groups.size() > most_curves)
        throw Error("plot", "can tell " + std::to_string(most_curves) + " curves apart, and " +
                                std::to_string(groups.size()) + " runs are named");
    const Abscissa abscissa = plot.x == "steps" ? Abscissa::steps : Abscissa::seconds;
    if (plot.metrics.empty()) plot.metrics = {"episode.return"};
    if (plot.web.web) return run_on_page(plot, abscissa);
    const std::vector<PlotPanel> panels = panels_of(plot, groups, abscissa);
    if (plot.out.empty()) plot.out = file_for(groups);
    const int pixels = plot.pixels ? plot.pixels : is_svg(plot.out) ? svg_pixels : png_pixels;
    write_picture(plot.out, plot_picture(panels, abscissa), plot.metrics.front(), pixels);
    if (plot.json) return print_json(plot_json(plot, panels));
    for (const PlotPanel& panel : panels) say_what_is_left_out(panel, groups, abscissa);
    std::printf("written to %s\n", printable(plot.out.string()).c_str());
}

}

void add_plot(CommandLine& line) {
    auto plot = std::make_shared<PlotCommand>();
    Command command = line.add("plot", "Draw the curves of runs, with intervals over seeds");
    command.option("runs", plot->runs, "Directories of runs, or of the runs of several seeds")
        .required();
    command
        .option("--metric", plot->metrics,
                "A metric of the runs; episode.return where none is given; may be repeated")
        .repeated();
    command.option("--x", plot->x, "What the curves are drawn over")
        .one_of({"steps", "seconds"})
        .shows_default();
    add_web_options(command, plot->web);
    const Option web = command.known("--web");
    command
        .option("--out", plot->out, "The picture, .svg or .png; RUN.svg here where none is given")
        .excludes(web);
    command.option("--size", plot->pixels, "Pixels of the longer side; 800 of SVG and 1600 of PNG")
        .between(200, 16384)
        .excludes(web);
    command.flag("--json", plot->json, "One JSON object per line, nothing else on standard output");
    command.run([plot] { run(*plot); });
}

}
