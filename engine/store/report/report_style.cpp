#include "store/report/report_parts.h"

namespace orrery::store {

// Colours of operator kinds are those of the studio (Okabe and Ito, related kinds share a hue), in light and dark.
std::string_view reportStyle() {
    return R"css(
:root { color-scheme: light dark;
  --page:#ffffff; --raised:#f6f7f9; --line:#d0d5dc; --faint:#e9ecf0; --ink:#1b1f24; --muted:#565e69; --accent:#1160c4;
  --good:#146c2e; --warn:#805000; --bad:#b3242b; --roof:#3b434d; --memory:#b04a00;
  --k0:#0072b2; --k1:#3a9fd8; --k2:#1d86c0; --k3:#d55e00; --k4:#3fb391; --k5:#009e73; --k6:#dd9500; --k7:#00795a;
  --k8:#5f9f6b; --k9:#c46c9d; --k10:#a99b00; --k11:#7c8591; --k12:#a3abb5; --k13:#9c4479; --k14:#4d555f; }
@media (prefers-color-scheme: dark) { :root {
  --page:#17191d; --raised:#1f2227; --line:#3b4149; --faint:#2b3037; --ink:#e4e7eb; --muted:#a5adb8; --accent:#6db3ff;
  --good:#5fc97c; --warn:#e0b04a; --bad:#ff8a80; --roof:#c3cad3; --memory:#f0a060;
  --k0:#3d9fdc; --k1:#56b4e9; --k2:#8accf2; --k3:#ee7a22; --k4:#6bd3b2; --k5:#1fb88b; --k6:#e69f00; --k7:#00a07a;
  --k8:#8cc795; --k9:#cc79a7; --k10:#f0e442; --k11:#98a1ad; --k12:#6d7682; --k13:#e3a5c6; --k14:#c3cad3; } }
* { box-sizing:border-box; }
body { margin:0; background:var(--page); color:var(--ink); font:15px/1.55 Inter,"Segoe UI",system-ui,"Noto Sans",sans-serif;
  font-variant-numeric:tabular-nums; -webkit-print-color-adjust:exact; print-color-adjust:exact; }
main { max-width:980px; margin:0 auto; padding:48px 32px 64px; }
header { margin-bottom:32px; }
.mark { color:var(--muted); font-size:13px; letter-spacing:.06em; text-transform:uppercase; }
h1 { font-size:30px; line-height:1.2; font-weight:600; letter-spacing:-.015em; margin:8px 0 6px; text-wrap:balance; }
h2 { font-size:22px; font-weight:600; letter-spacing:-.01em; margin:56px 0 4px; padding-top:24px; border-top:1px solid var(--line); }
h3 { font-size:16px; font-weight:600; margin:36px 0 8px; }
p { margin:0 0 8px; } .lead { color:var(--muted); margin:0; } .note { color:var(--muted); font-size:13px; }
.answer { font-size:19px; margin-top:20px; } .answer b { font-weight:600; }
table { border-collapse:collapse; width:100%; font-size:14px; }
th { text-align:left; font-weight:500; color:var(--muted); font-size:13px; padding:6px 12px 6px 0; border-bottom:1px solid var(--line); vertical-align:bottom; }
td { padding:7px 12px 7px 0; border-bottom:1px solid var(--faint); vertical-align:top; }
th.n, td.n { text-align:right; white-space:nowrap; } td:last-child, th:last-child { padding-right:0; }
tr.open td { border-bottom:0; padding-bottom:0; } td.figures { color:var(--muted); font-size:13px; padding-top:2px; }
td.figures span { display:inline-block; margin-right:18px; } td.figures b { font-weight:500; color:var(--ink); } td .sub { display:block; color:var(--muted); font-size:12.5px; } tr.failed td { color:var(--muted); } .bad { color:var(--bad); }
.name { font-weight:500; overflow-wrap:anywhere; } .scroll { overflow-x:auto; }
svg { display:block; width:100%; height:auto; overflow:visible; } svg text { font:12px Inter,"Segoe UI",system-ui,"Noto Sans",sans-serif; fill:var(--muted); }
svg .label { fill:var(--ink); } svg .grid { stroke:var(--faint); } svg .axis { stroke:var(--line); }
svg .roof { stroke:var(--roof); stroke-width:1.5; fill:none; } svg .slope { stroke:var(--memory); stroke-width:1.5; fill:none; }
svg text.roofname { fill:var(--roof); } svg text.slopename { fill:var(--memory); } svg .halo { paint-order:stroke; stroke:var(--page); stroke-width:4px; stroke-linejoin:round; }
svg .range { stroke:var(--accent); stroke-width:6; stroke-linecap:round; opacity:.28; } svg .dot { fill:var(--accent); }
svg .point { fill-opacity:.72; stroke:var(--page); stroke-width:1; }
.bar { display:flex; height:22px; border-radius:4px; overflow:hidden; background:var(--faint); gap:1px; }
.bar span { display:block; min-width:1px; } .row { display:grid; grid-template-columns:200px 1fr 110px; gap:16px; align-items:center; margin:8px 0; font-size:14px; }
.row .n { text-align:right; } .legend { display:flex; flex-wrap:wrap; gap:4px 20px; margin:12px 0 0; font-size:13px; color:var(--muted); }
.legend i { display:inline-block; width:10px; height:10px; border-radius:2px; margin-right:7px; }
ul { margin:0; padding-left:20px; } li { margin:3px 0; } .tag { font-size:12.5px; color:var(--warn); font-weight:500; }
details { border-bottom:1px solid var(--faint); } summary { cursor:pointer; padding:9px 0; } details > div { padding:0 0 14px 18px; }
dl { display:grid; grid-template-columns:max-content 1fr; gap:4px 20px; margin:0; font-size:14px; } dt { color:var(--muted); } dd { margin:0; overflow-wrap:anywhere; }
code { font:13px "JetBrains Mono",ui-monospace,"DejaVu Sans Mono",monospace; } footer { margin-top:48px; color:var(--muted); font-size:13px; }
.k0{fill:var(--k0);background:var(--k0)} .k1{fill:var(--k1);background:var(--k1)} .k2{fill:var(--k2);background:var(--k2)}
.k3{fill:var(--k3);background:var(--k3)} .k4{fill:var(--k4);background:var(--k4)} .k5{fill:var(--k5);background:var(--k5)}
.k6{fill:var(--k6);background:var(--k6)} .k7{fill:var(--k7);background:var(--k7)} .k8{fill:var(--k8);background:var(--k8)}
.k9{fill:var(--k9);background:var(--k9)} .k10{fill:var(--k10);background:var(--k10)} .k11{fill:var(--k11);background:var(--k11)}
.k12{fill:var(--k12);background:var(--k12)} .k13{fill:var(--k13);background:var(--k13)} .k14{fill:var(--k14);background:var(--k14)}
@media (max-width:640px) { main { padding:24px 16px; } .row { grid-template-columns:1fr; gap:4px; } .row .n { text-align:left; } }
@media print { :root { --page:#fff; --raised:#f6f7f9; --ink:#000; --muted:#444; --line:#bbb; --faint:#e3e3e3; --roof:#333; }
  body { font-size:10.5pt; } main { max-width:none; padding:0; } h2 { break-before:page; border-top:0; padding-top:0; margin-top:0; }
  figure, .row, tr, h3, details { break-inside:avoid; } h3 { break-after:avoid; } @page { margin:18mm 16mm; } }
figure { margin:12px 0 0; } figcaption { margin-top:8px; }
)css";
}

}  // namespace orrery::store
