// The style of a report's page: CSS, light and dark, for wide and narrow windows and for paper.
#pragma once

namespace eps::report {

// The text has neither "<" nor "&", so that the page is well-formed as XML too. The first eight
// colours of lines differ for red-green-blind eyes as well; markers and dashes tell more methods
// apart.
inline constexpr char kStyleSheet[] = R"(
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1c1e21; --muted: #666a70; --rule: #1c1e21; --hair: #dfe1e4;
  --failure: #a3341f;
  --c0: #2a6fbf; --c1: #c44a00; --c2: #14957f; --c3: #8c1455;
  --c4: #b58f00; --c5: #2fa3e8; --c6: #5a1ea6; --c7: #2b2b24; --c8: #e8798a;
  --serif: Charter, "Bitstream Charter", "Iowan Old Style", "Source Serif 4", Cambria, Georgia, serif;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15171a; --ink: #e4e6e9; --muted: #9ba1a8; --rule: #c9cdd2; --hair: #32363b;
    --failure: #ff9d85;
    --c0: #4a98ff; --c1: #f2581a; --c2: #22a67f; --c3: #ec7fbc;
    --c4: #d6c232; --c5: #9be0ff; --c6: #8c69e6; --c7: #f6e9c4; --c8: #c4365c;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 var(--serif); }
main { max-width: 1290px; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
section { margin-top: 2.75rem; }
h1, h2, h3, h4 { line-height: 1.25; font-weight: 600; overflow-wrap: anywhere; }
h1 { font-size: 1.9rem; margin: 0 0 0.5rem; }
h2 { font-size: 1.35rem; margin: 0 0 0.4rem; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 0.3rem; }
h4 { font-size: 0.95rem; margin: 1.1rem 0 0.3rem; font-style: italic; font-weight: 400; }
p { margin: 0 0 0.6rem; max-width: 46rem; }
.about { white-space: pre-line; overflow-wrap: anywhere; }
.key { color: var(--muted); font-size: 0.875rem; }
b { font-weight: 700; }
u { text-decoration-thickness: 1px; text-underline-offset: 0.2em; }

dl { margin: 1rem 0 0; font: 0.8125rem/1.4 var(--sans); display: flex; flex-wrap: wrap; gap: 0.5rem 1.75rem; }
dl div { min-width: 0; }
dt { color: var(--muted); }
dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.glossary { display: block; }
.glossary div { margin-bottom: 0.35rem; }
.glossary dt, .glossary dd { display: inline; }
.glossary dt { color: inherit; font-weight: 600; }
.glossary dt::after { content: ". "; }

figure { margin: 0; min-width: 0; }
.table, .sheet { margin-top: 1.5rem; }
.table figcaption, .sheet figcaption { font-weight: 600; margin-bottom: 0.35rem; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
.scroll:focus-visible { outline: 2px solid var(--c0); outline-offset: 2px; }
table { border-collapse: separate; border-spacing: 0; font: 0.8125rem/1.125rem var(--sans); font-variant-numeric: tabular-nums lining-nums; }
.table table { width: 100%; max-width: calc(18rem + var(--columns) * 8.5rem); }
.table th, .table td { padding: 0.1875rem 0.4rem; text-align: right; white-space: nowrap; background: var(--paper); }
.table thead th { border-top: 1.5px solid var(--rule); font-weight: 600; vertical-align: bottom; padding-top: 0.375rem; padding-bottom: 0.375rem; }
.table tbody th { font-weight: 400; }
.table tbody tr:first-child > * { padding-top: 0.375rem; border-top: 1px solid var(--rule); }
.table tbody tr:last-child > * { padding-bottom: 0.375rem; border-bottom: 1.5px solid var(--rule); }
.table .group > * { border-top: 1px solid var(--hair); }
.table .method, .table .text { text-align: left; }
.table .method { --wide: min(var(--method) + 1.25rem, 12rem); width: var(--wide); min-width: var(--wide); max-width: var(--wide); padding-left: 0; white-space: normal; overflow-wrap: anywhere; position: sticky; left: 0; z-index: 1; }
.table .nfe { position: sticky; left: min(var(--method) + 1.25rem, 12rem); z-index: 1; }
.arrow { font-weight: 400; color: var(--muted); }
.target { display: block; }
.table tr > :last-child { padding-right: 0; }
small { font-size: 0.78em; line-height: 0; color: var(--muted); }
.absent { color: var(--muted); }
.table .failure { text-align: left; white-space: normal; color: var(--failure); padding-left: 1.25rem; overflow-wrap: anywhere; }
.notes { margin: 0.4rem 0 0; padding: 0; list-style: none; font: 0.78rem/1.45 var(--sans); color: var(--muted); overflow-wrap: anywhere; }

svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { font: 10px var(--sans); fill: var(--muted); font-variant-numeric: tabular-nums; }
svg .label { fill: var(--ink); }
svg .middle { text-anchor: middle; }
svg .end { text-anchor: end; }
svg .grid { stroke: var(--hair); stroke-width: 1; }
svg .tick { stroke: var(--muted); stroke-width: 1; }
svg .reference { stroke: var(--muted); stroke-width: 1; stroke-dasharray: 4 3; fill: none; }
.series { --c: var(--ink); }
.c0 { --c: var(--c0); } .c1 { --c: var(--c1); } .c2 { --c: var(--c2); } .c3 { --c: var(--c3); }
.c4 { --c: var(--c4); } .c5 { --c: var(--c5); } .c6 { --c: var(--c6); } .c7 { --c: var(--c7); }
.c8 { --c: var(--c8); }
.curve { stroke: var(--c); stroke-width: 1.5; fill: none; stroke-linejoin: round; }
.d1 .curve { stroke-dasharray: 5 3; } .d2 .curve { stroke-dasharray: 1.5 2.5; } .d3 .curve { stroke-dasharray: 8 3 1.5 3; }
.error-bar { stroke: var(--c); stroke-width: 1; opacity: 0.7; }
.marker { fill: var(--c); stroke: var(--paper); stroke-width: 0.8; }
.hollow .marker { fill: var(--paper); stroke: var(--c); stroke-width: 1.3; }
.panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr)); gap: 1.1rem 1.5rem; }
.panel figcaption { font: 600 0.8125rem/1.35 var(--sans); margin-bottom: 0.1rem; overflow-wrap: anywhere; }
.wide .panel { width: var(--width); max-width: none; }
.legend { display: flex; flex-wrap: wrap; gap: 0.15rem 1.1rem; margin: 0.3rem 0 0.7rem; padding: 0; list-style: none; font: 0.8125rem/1.5 var(--sans); }
.legend li { display: flex; align-items: center; gap: 0.4rem; min-width: 0; overflow-wrap: anywhere; }
.legend svg { width: 30px; flex: none; }
.multiples { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(29%, 108px), 1fr)); gap: 0.9rem 1rem; align-items: end; font: 0.75rem/1.35 var(--sans); }
.multiples figure { max-width: 150px; }
.multiples svg { margin-bottom: 0.15rem; }
.multiples small { display: block; font-size: 0.9em; line-height: 1.35; }
.multiples figcaption { overflow-wrap: anywhere; }
.ranks rect { fill: var(--c); opacity: 0.8; }
.ranks text { font-size: 9px; fill: var(--ink); }

.sheet table { width: 100%; max-width: calc(var(--columns) * 128px); table-layout: fixed; }
.sheet th { font-weight: 400; font-size: 0.75rem; line-height: 1.25; padding: 0 2px 4px; vertical-align: bottom; overflow-wrap: anywhere; }
.sheet td { padding: 1px; min-width: 72px; }
.sheet td div { position: relative; }
.sheet img { display: block; width: 100%; height: auto; image-rendering: pixelated; }
.psnr { position: absolute; right: 0; bottom: 0; padding: 0.1em 0.35em; font-size: 0.6875rem; line-height: 1.2; color: #ffffff; background: rgb(0 0 0 / 0.62); }

@media (max-width: 640px) {
  main { padding: 1.5rem 1rem 3rem; }
  h1 { font-size: 1.5rem; }
  .table .method { --wide: min(var(--method) + 0.75rem, 6.5rem); }
  .table .nfe { left: min(var(--method) + 0.75rem, 6.5rem); box-shadow: 1px 0 0 var(--hair); }
  .failure span { display: block; max-width: 12.5rem; }
  .sheet table { width: calc(var(--columns) * 88px); }
}
@media print {
  body { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  .scroll { overflow: visible; }
  .table table, dl, .notes { font-size: 7.5pt; line-height: 1.3; }
  .table th, .table td { padding: 0.1rem 0.25rem; }
  section { margin-top: 1.5rem; }
  .table, .sheet { margin-top: 1rem; }
  .table .method, .table .nfe { position: static; }
  h2, h3, h4, figcaption, .key, .legend { break-after: avoid; }
  .table, .panel, .legend, .multiples figure, .sheet tr { break-inside: avoid; }
  .panels { grid-template-columns: repeat(3, 1fr); }
  .ranks rect, .psnr { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
)";

}  // namespace eps::report
