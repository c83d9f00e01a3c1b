"""How the page looks: calm, on any width, light or dark, and on paper."""

STYLE = """
:root {
  --ground: #ffffff; --text: #1c2024; --quiet: #5d656d; --rule: #e1e4e8; --panel: #f5f6f8;
  --good: #1a7f45; --bad: #b3261e; --odd: #8a5a00; --going: #1f5fae;
  --l0: #1f5fae; --l1: #c2571a; --l2: #2f8a57; --l3: #8b4fa8; --l4: #8a7a1c; --l5: #6b737b;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #15181b; --text: #e4e7ea; --quiet: #9aa2aa; --rule: #30363c; --panel: #1d2125;
    --good: #5cc98a; --bad: #ff8f85; --odd: #e5b25c; --going: #79b2f5;
    --l0: #79b2f5; --l1: #f0975f; --l2: #6fcf9a; --l3: #cf9be8; --l4: #d6c565; --l5: #a4acb4;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; padding: 2rem 1.25rem 3rem; background: var(--ground); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
main, footer { max-width: 62rem; margin: 0 auto; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0; font-weight: 600; }
h2 { font-size: 1.1rem; margin: 0 0 0.9rem; font-weight: 600; }
h3 { font-size: 0.95rem; margin: 1.6rem 0 0.5rem; font-weight: 600; }
h2 + h3 { margin-top: 0; }
p { margin: 0.4rem 0; }
section { border-top: 1px solid var(--rule); margin-top: 2rem; padding-top: 1.4rem; }
.kind, .where, .size, footer { color: var(--quiet); font-size: 0.85rem; font-weight: 400; }
.kind { margin: 0 0 0.1rem; }
.where { margin: -0.4rem 0 0.5rem; }
.outcome { font-size: 1.15rem; font-weight: 600; margin: 0.35rem 0 0.6rem; }
.completed { color: var(--good); } .failed { color: var(--bad); }
.stopped, .stopping { color: var(--odd); } .inprogress { color: var(--going); }
.running { border-left: 3px solid var(--going); padding-left: 0.8rem; }
pre {
  margin: 0.4rem 0 0; padding: 0.8rem 0.9rem; background: var(--panel); border-radius: 4px;
  font: 0.82rem/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; tab-size: 4;
}
pre.reason { border-left: 3px solid var(--bad); border-radius: 0 4px 4px 0; margin: 0.6rem 0; font-size: 0.9rem; }
ul.notes { margin: 0.4rem 0; padding-left: 1.15rem; }
ul.notes li { margin: 0.25rem 0; }
dl.facts {
  margin: 1.2rem 0 0; display: grid; gap: 0.7rem 2rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 13rem), 1fr));
}
dl.facts div.wide { grid-column: 1 / -1; }
dt { color: var(--quiet); font-size: 0.8rem; }
dd { margin: 0; }
.timeline {
  display: grid; grid-template-columns: max-content 1fr max-content; gap: 0.45rem 0.9rem; align-items: center;
}
.timeline svg { width: 100%; height: 0.9rem; display: block; }
.timeline .seconds { text-align: right; }
.timeline .far { display: block; color: var(--quiet); font-size: 0.75rem; line-height: 1; }
.timeline .said { grid-column: 2 / -1; color: var(--quiet); }
.timeline .ends { grid-column: 2; }
.bar { fill: var(--l0); }
.bar.going { fill-opacity: 0.45; }
.curves { display: grid; gap: 1.6rem 2.2rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr)); }
ul.notes + .curves, .curves + p { margin-top: 1rem; }
.curves.two { grid-template-columns: repeat(auto-fill, minmax(min(100%, 24rem), 1fr)); }
.curve { margin: 0; min-width: 0; }
figcaption {
  display: grid; grid-template-columns: 1fr auto; gap: 0 1rem; align-items: baseline; margin-bottom: 0.4rem;
}
figcaption .name, figcaption .value { font-weight: 600; }
figcaption .detail { grid-column: 1 / -1; color: var(--quiet); font-size: 0.8rem; }
.plot { display: grid; grid-template: auto 1fr auto / 4.6rem 1fr; column-gap: 0.5rem; }
.plot svg { grid-area: 1 / 2 / 4 / 3; width: 100%; height: 7rem; display: block; overflow: visible; }
.plot .high { grid-area: 1 / 1; } .plot .low { grid-area: 3 / 1; }
.high, .low, .ends { color: var(--quiet); font-size: 0.75rem; line-height: 1; }
.high, .low { text-align: right; white-space: nowrap; }
.ends { display: flex; justify-content: space-between; margin-top: 0.35rem; }
.curve .ends { margin-left: 5.1rem; }
.legend {
  list-style: none; margin: 0.5rem 0 0 5.1rem; padding: 0; font-size: 0.8rem; color: var(--quiet);
  display: flex; flex-wrap: wrap; gap: 0.1rem 1rem;
}
.legend b { font-weight: 400; color: var(--text); }
.swatch { width: 1.5rem; height: 0.5rem; margin-right: 0.4rem; }
.grid { stroke: var(--rule); stroke-width: 1; fill: none; vector-effect: non-scaling-stroke; }
.limit { stroke: var(--bad); stroke-width: 1; stroke-dasharray: 3 3; fill: none; vector-effect: non-scaling-stroke; }
.line {
  fill: none; stroke: var(--l5); stroke-width: 1.6; stroke-linejoin: round; stroke-linecap: round;
  vector-effect: non-scaling-stroke;
}
.dot { fill: none; stroke: var(--l5); stroke-width: 6; stroke-linecap: round; vector-effect: non-scaling-stroke; }
.l0 { stroke: var(--l0); } .l1 { stroke: var(--l1); } .l2 { stroke: var(--l2); }
.l3 { stroke: var(--l3); } .l4 { stroke: var(--l4); }
.line.l1 { stroke-dasharray: 6 4; } .line.l2 { stroke-dasharray: 1.5 4; } .line.l3 { stroke-dasharray: 9 3 1.5 3; }
.line.l4 { stroke-dasharray: 12 5; } .line.l5 { stroke-dasharray: 3 3; }
.members { border-collapse: collapse; font-size: 0.9rem; }
.members td { padding: 0.1rem 0; vertical-align: top; }
.members .number { text-align: right; white-space: nowrap; padding-right: 1.2rem; color: var(--quiet); }
footer { border-top: 1px solid var(--rule); margin-top: 2.5rem; padding-top: 0.8rem; }
@media (max-width: 30rem) {
  body { padding: 1.2rem 1rem 2rem; }
  h1 { font-size: 1.35rem; }
  .timeline { column-gap: 0.6rem; font-size: 0.9rem; }
  dl.facts { grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); gap: 0.6rem 1rem; }
}
@media print {
  :root {
    --ground: #ffffff; --text: #000000; --quiet: #444444; --rule: #bbbbbb; --panel: #ffffff;
    --good: #1a7f45; --bad: #b3261e; --odd: #8a5a00; --going: #1f5fae;
    --l0: #1f5fae; --l1: #c2571a; --l2: #2f8a57; --l3: #8b4fa8; --l4: #8a7a1c; --l5: #6b737b;
  }
  @page { margin: 16mm; }
  body { padding: 0; font-size: 10pt; }
  main, footer { max-width: none; }
  pre { border: 1px solid var(--rule); }
  pre.reason { border-left: 3px solid var(--bad); }
  .curves { grid-template-columns: repeat(3, 1fr); }
  .curves.two { grid-template-columns: repeat(2, 1fr); }
  h2, h3 { break-after: avoid; }
  figure, .timeline, tr { break-inside: avoid; }
  .bar, .line, .dot { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
