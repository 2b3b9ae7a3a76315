// A report as one page without anything outside it.
#include "eps/report/markup.h"
#include "eps/report/sections.h"
#include "eps/report/style_sheet.h"

namespace eps::report {
namespace {

std::string head(const std::string& title) {
  return element("head",
                 {},
                 element("meta", {{"charset", "utf-8"}}) +
                     element("meta",
                             {{"name", "viewport"},
                              {"content", "width=device-width, initial-scale=1"}}) +
                     element("meta", {{"name", "color-scheme"}, {"content", "light dark"}}) +
                     element("title", {}, escape_markup(title)) + "\n" +
                     element("style", {}, kStyleSheet)) +
         "\n";
}

std::string opening(const Report& report) {
  std::string parameters;
  for (const auto& [name, value] : report.parameters) {
    parameters +=
        element("div",
                {},
                element("dt", {}, escape_markup(name)) + element("dd", {}, escape_markup(value))) +
        "\n";
  }
  return element(
             "header",
             {},
             element("h1", {}, escape_markup(report.title)) + "\n" +
                 (report.about.empty()
                      ? ""
                      : element("p", {{"class", "about"}}, escape_markup(report.about)) + "\n") +
                 (parameters.empty() ? "" : element("dl", {}, "\n" + parameters))) +
         "\n";
}

// Returns the meaning of the columns, which pointing at them brings up, for paper and for fingers.
std::string glossary(const Report& report) {
  std::string entries;
  for (const auto& name : report.columns) {
    const Metric metric = find_metric(name);
    if (metric.help.empty()) continue;
    entries += element("div",
                       {},
                       element("dt", {}, escape_markup(metric.label)) +
                           element("dd", {}, escape_markup(metric.help))) +
               "\n";
  }
  if (entries.empty()) return "";
  return element("section",
                 {},
                 element("h2", {}, "Columns") + "\n" +
                     element("dl", {{"class", "glossary"}}, "\n" + entries)) +
         "\n";
}

}  // namespace

std::string to_html(const Report& report) {
  const Styles styles(report.rows);
  const std::string body = opening(report) + tables_section(report) +
                           plots_section(report, styles) + calibration_section(report, styles) +
                           sheets_section(report) + glossary(report);
  return "<!DOCTYPE html>\n" +
         element(
             "html",
             {{"lang", "en"}},
             std::string("\n") + head(report.title) +
                 element("body", {}, std::string("\n") + element("main", {}, "\n" + body) + "\n")) +
         "\n";
}

}  // namespace eps::report
