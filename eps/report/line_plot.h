// Plots of lines with markers and error bars, as SVG that follows the page's colours.
#pragma once

#include "eps/base/core.h"

namespace eps::report {

// A `Style` is the look of a line everywhere in a report: a method has its colour and its marker;
// its variants differ in dashes, and in markers filled or hollow.
struct Style {
  int method = 0;
  int variant = 0;
};

struct Point {
  double x = 0, y = 0;
  double se = 0;  // half the error bar; NaN: none
};

struct Series {
  std::string name;
  Style style;
  std::vector<Point> points;  // in the order of the line
};

struct LinePlot {
  std::string title;  // for readers who cannot see the plot
  std::string x_label, y_label;
  bool log_x = false;
  std::vector<std::string> categories = {};  // if any, x counts them from 0
  bool diagonal = false;                     // draws y = x, over all from 0 to 1
  std::vector<Series> series = {};           // at least one point in all
  double width = 330, height = 220;
};

std::string line_plot(const LinePlot& plot);
// Returns the plot in a figure, with a caption above unless it is empty.
std::string panel(const LinePlot& plot, const std::string& caption);

// Returns the CSS classes that give an element the colour and the dashes of the style.
std::string style_class(const Style& style);

// Returns names beside short pieces of their lines. Of series with one name, the first counts.
std::string legend(const std::vector<Series>& series);

}  // namespace eps::report
