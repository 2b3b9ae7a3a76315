// Plots of lines with markers and error bars, as SVG that follows the page's colours.
#include "eps/report/line_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "eps/report/axis.h"
#include "eps/report/markup.h"
#include "eps/report/numbers.h"

namespace eps::report {
namespace {

// The numbers of colours and markers have no common factor, so that both together tell 63 methods
// apart.
constexpr int kColours = 9;
constexpr std::array kMarkers = {
    "M3.2 0A3.2 3.2 0 1 1 -3.2 0A3.2 3.2 0 1 1 3.2 0Z",      // circle
    "M-2.9 -2.9H2.9V2.9H-2.9Z",                              // square
    "M0 -3.9L3.7 2.8H-3.7Z",                                 // triangle
    "M0 -4.2L4.2 0L0 4.2L-4.2 0Z",                           // diamond
    "M0 3.9L3.7 -2.8H-3.7Z",                                 // triangle, down
    "M-1.3 -4H1.3V-1.3H4V1.3H1.3V4H-1.3V1.3H-4V-1.3H-1.3Z",  // plus
    "M-3.7 -1.9L-1.9 -3.7L0 -1.8L1.9 -3.7L3.7 -1.9L1.8 0L3.7 1.9L1.9 3.7L0 1.8L-1.9 3.7L-3.7 "
    "1.9L-1.8 0Z"};  // cross
constexpr int kDashes = 4;

}  // namespace

std::string style_class(const Style& style) {
  return fmt::format("series c{} d{}{}",
                     style.method % kColours,
                     (style.method / kColours + style.variant) % kDashes,
                     style.variant % 2 == 1 ? " hollow" : "");
}

namespace {

std::string marker(const Style& style, double x, double y, const std::string& tooltip) {
  return element("path",
                 {{"class", "marker"},
                  {"d", kMarkers[style.method % kMarkers.size()]},
                  {"transform", fmt::format("translate({:.2f} {:.2f})", x, y)}},
                 tooltip.empty() ? "" : element("title", {}, escape_markup(tooltip)));
}

std::string line(const std::string& kind, double x1, double y1, double x2, double y2) {
  return element("line",
                 {{"class", kind},
                  {"x1", coordinate(x1)},
                  {"y1", coordinate(y1)},
                  {"x2", coordinate(x2)},
                  {"y2", coordinate(y2)}});
}

std::string text(const std::string& kind, double x, double y, const std::string& words) {
  return element(
      "text", {{"class", kind}, {"x", coordinate(x)}, {"y", coordinate(y)}}, escape_markup(words));
}

// Returns a word in pieces of at most `longest` bytes, cut between characters.
std::vector<std::string> pieces(std::string word, size_t longest) {
  std::vector<std::string> result;
  while (word.size() > longest) {
    size_t cut = longest;
    while (cut > 1 && (word[cut] & 0xc0) == 0x80) --cut;  // inside a character of UTF-8
    result.push_back(word.substr(0, cut));
    word.erase(0, cut);
  }
  result.push_back(word);
  return result;
}

// Returns words in lines of at most `longest` bytes.
std::vector<std::string> wrap(const std::string& words, size_t longest) {
  std::vector<std::string> lines(1);
  std::istringstream stream(words);
  for (std::string word; stream >> word;) {
    for (const auto& piece : pieces(word, longest)) {
      std::string& last = lines.back();
      if (last.empty()) {
        last = piece;
      } else if (last.size() + 1 + piece.size() <= longest) {
        last += " " + piece;
      } else {
        lines.push_back(piece);
      }
    }
  }
  return lines;
}

constexpr double kCharacter = 5.6;  // width of one, about
constexpr double kLine = 12;        // height of a line of text

struct Frame {
  Axis x, y;
  std::vector<Tick> y_ticks;
  std::vector<std::vector<std::string>> categories;  // their names in lines
};

std::vector<double> gather(const LinePlot& plot, bool of_x) {
  // Levels are parts of a whole, so the axis has all of it.
  std::vector<double> values = plot.diagonal ? std::vector<double>{0, 1} : std::vector<double>{};
  for (const auto& series : plot.series) {
    for (const auto& point : series.points) {
      if (of_x) values.push_back(point.x);
      if (of_x) continue;
      const double se = std::isfinite(point.se) ? point.se : 0;
      values.insert(values.end(), {point.y - se, point.y + se});
    }
  }
  return values;
}

Frame make_frame(const LinePlot& plot) {
  constexpr double kTop = 20, kRight = 12;
  Frame frame;
  frame.y = axis_around(gather(plot, false), false);
  frame.y_ticks = ticks(frame.y, 6);
  size_t longest = 0;
  for (const auto& tick : frame.y_ticks) longest = std::max(longest, tick.label.size());
  const double count = static_cast<double>(plot.categories.size());
  frame.x = count > 0 ? Axis{.low = -0.5, .high = count - 0.5}
                      : axis_around(gather(plot, true), plot.log_x);
  frame.x.start = 12 + kCharacter * static_cast<double>(longest);
  frame.x.end = plot.width - kRight;
  size_t lines = 2;  // the label below the ticks' numbers
  for (const auto& name : plot.categories) {
    const double room = (frame.x.end - frame.x.start) / count;
    frame.categories.push_back(
        wrap(name, static_cast<size_t>(std::max(room / kCharacter - 1, 4.0))));
    lines = std::max(lines, frame.categories.back().size());
  }
  frame.y.start = plot.height - 12 - kLine * static_cast<double>(lines);
  frame.y.end = kTop;
  return frame;
}

std::string x_ticks(const LinePlot& plot, const Frame& frame) {
  std::string svg;
  const double bottom = frame.y.start;
  if (plot.categories.empty()) {
    for (const auto& tick : ticks(frame.x, 8)) {
      const double x = frame.x.place(tick.value);
      svg += line("tick", x, bottom, x, bottom + 4) + text("middle", x, bottom + 15, tick.label);
    }
    return svg + text("middle label", (frame.x.start + frame.x.end) / 2, bottom + 30, plot.x_label);
  }
  for (size_t i = 0; i < frame.categories.size(); ++i) {
    const double x = frame.x.place(static_cast<double>(i));
    svg += line("tick", x, bottom, x, bottom + 4);
    double y = bottom + 15;
    for (const auto& words : frame.categories[i]) {
      svg += text("middle", x, y, words);
      y += kLine;
    }
  }
  return svg;
}

std::string axes(const LinePlot& plot, const Frame& frame) {
  std::string svg;
  const Axis& x = frame.x;
  const Axis& y = frame.y;
  for (const auto& tick : frame.y_ticks) {
    const double at = y.place(tick.value);
    svg += line("grid", x.start, at, x.end, at) +
           text("end", x.start - 6, at + 3.4, typeset(tick.label));
  }
  svg += line("tick", x.start, y.start, x.end, y.start) + x_ticks(plot, frame);
  svg += text("label", x.start, y.end - 9, plot.y_label);
  const double low = std::max(x.low, y.low);
  const double high = std::min(x.high, y.high);
  if (plot.diagonal && low < high) {
    svg += line("reference", x.place(low), y.place(low), x.place(high), y.place(high));
  }
  return svg;
}

std::string tooltip(const LinePlot& plot, const Series& series, const Point& point) {
  const std::string x = plot.categories.empty()
                            ? fmt::format("{} {}", plot.x_label, brief_number(point.x))
                            : plot.categories[static_cast<size_t>(point.x)];
  const std::string se = std::isfinite(point.se) ? fmt::format(" ± {:.2g}", point.se) : "";
  return fmt::format("{}, {}: {} {:.4g}{}", series.name, x, plot.y_label, point.y, se);
}

std::string draw_series(const LinePlot& plot, const Frame& frame, const Series& series) {
  std::string path, bars, markers;
  double previous = 0;
  for (const auto& point : series.points) {
    const double x = frame.x.place(point.x);
    const double y = frame.y.place(point.y);
    // A line ends before a category without a value.
    const bool gap = !plot.categories.empty() && point.x > previous + 1;
    path += fmt::format("{}{:.2f} {:.2f}", path.empty() || gap ? "M" : "L", x, y);
    previous = point.x;
    if (std::isfinite(point.se) && point.se > 0) {
      bars += line(
          "error-bar", x, frame.y.place(point.y - point.se), x, frame.y.place(point.y + point.se));
    }
    markers += marker(series.style, x, y, tooltip(plot, series, point));
  }
  const std::string curve =
      series.points.size() > 1 ? element("path", {{"class", "curve"}, {"d", path}}) : "";
  return element("g", {{"class", style_class(series.style)}}, curve + bars + markers);
}

}  // namespace

std::string line_plot(const LinePlot& plot) {
  const Frame frame = make_frame(plot);
  std::string content = axes(plot, frame);
  for (const auto& series : plot.series) content += draw_series(plot, frame, series);
  return element("svg",
                 {{"viewBox", fmt::format("0 0 {:g} {:g}", plot.width, plot.height)},
                  {"role", "img"},
                  {"aria-label", plot.title}},
                 content);
}

std::string panel(const LinePlot& plot, const std::string& caption) {
  const std::string above =
      caption.empty() ? "" : element("figcaption", {}, escape_markup(caption));
  return element("figure", {{"class", "panel"}}, above + line_plot(plot)) + "\n";
}

std::string legend(const std::vector<Series>& series) {
  std::set<std::string> seen;
  std::string items;
  for (const auto& entry : series) {
    if (!seen.insert(entry.name).second) continue;
    const std::string sample =
        element("path", {{"class", "curve"}, {"d", "M1 7L29 7"}}) + marker(entry.style, 15, 7, "");
    items += element("li",
                     {},
                     element("svg",
                             {{"viewBox", "0 0 30 14"},
                              {"class", style_class(entry.style)},
                              {"aria-hidden", "true"}},
                             sample) +
                         escape_markup(entry.name));
  }
  return element("ul", {{"class", "legend"}}, items) + "\n";
}

}  // namespace eps::report
