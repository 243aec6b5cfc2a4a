#include "base/unit.h"
#include "store/export/export_parts.h"
#include "store/report/report_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>

namespace orrery::store {

namespace {

// A round distance of ticks, so that about four of them reach the value.
double tickFor(double value) {
    const double rough = value / 4, power = std::pow(10.0, std::floor(std::log10(rough)));
    for (const double step : {1.0, 2.0, 2.5, 5.0}) {
        if (rough <= step * power) return step * power;
    }
    return 10 * power;
}

}  // namespace

std::string intervalsSvg(const Answers& answers) {
    double largest = 0;
    for (const Estimate* each : answers) largest = std::max({largest, each->interval.high.value, each->latency.value});
    if (!(largest > 0) || !std::isfinite(largest)) return {};
    constexpr double width = 916, left = 200, right = 40, line = 30, top = 6;
    const double step = tickFor(largest), end = step * std::ceil(largest / step);
    const double bottom = top + line * static_cast<double>(answers.size());
    const auto x = [&](double seconds) { return left + seconds / end * (width - left - right); };
    std::string out = fmt::format(
        R"(<figure><svg viewBox="0 0 {} {:.0f}" role="img" aria-label="Latency with intervals">)", width, bottom + 26);
    const auto put = std::back_inserter(out);
    for (int tick = 0; tick * step <= end * 1.001; ++tick) {
        const double value = step * tick;
        fmt::format_to(put, R"(<line class="grid" x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}"/>)", x(value), top,
                       bottom);
        fmt::format_to(put, R"(<text x="{:.1f}" y="{:.0f}" text-anchor="middle">{}</text>)", x(value), bottom + 18,
                       tick == 0 ? "0" : escaped(format(Seconds(value))));
    }
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const Estimate& each = *answers[i];
        const double y = top + line * (static_cast<double>(i) + 0.5);
        fmt::format_to(put, R"(<text class="label" x="{}" y="{:.1f}" text-anchor="end">{}</text>)", left - 14, y + 4,
                       escaped(methodTitle(each.method)));
        fmt::format_to(put, R"(<line class="range" x1="{0:.1f}" x2="{1:.1f}" y1="{2:.1f}" y2="{2:.1f}"/>)",
                       x(each.interval.low.value), x(each.interval.high.value), y);
        fmt::format_to(put, R"(<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="5"><title>{}</title></circle>)",
                       x(each.latency.value), y, escaped(format(each.latency)));
    }
    return out + "</svg></figure>";
}

std::string breakdownHtml(const Scenario& scenario, const Answers& answers) {
    std::string out;
    std::set<OperatorKind> present;
    std::vector<OperatorKind> order;
    for (const Estimate* each : answers) {
        const auto shares = timeByKind(scenario, *each);
        const double total = std::accumulate(shares.begin(), shares.end(), 0.0,
                                             [](double sum, const KindShare& share) { return sum + share.seconds; });
        if (!(total > 0)) continue;
        out += fmt::format(R"(<div class="row"><span>{}</span><div class="bar">)", escaped(methodTitle(each->method)));
        for (const KindShare& share : shares) {
            out += fmt::format(R"(<span class="{}" style="width:{:.3f}%" title="{}: {}, {:.1f} %"></span>)",
                               kindClass(share.kind), 100 * share.seconds / total, escaped(orrery::toText(share.kind)),
                               escaped(format(Seconds(share.seconds))), 100 * share.seconds / total);
            if (present.insert(share.kind).second) order.push_back(share.kind);
        }
        out += fmt::format(R"(</div><span class="n">{}</span></div>)", escaped(format(Seconds(total))));
    }
    if (out.empty()) return out;
    out += R"(<div class="legend">)";
    for (const OperatorKind kind : order) {
        out += fmt::format(R"(<span><i class="{}"></i>{}</span>)", kindClass(kind), escaped(orrery::toText(kind)));
    }
    return out + "</div>";
}

std::string memoryHtml(const Answers& answers) {
    // Methods that agree share a bar.
    std::vector<std::pair<const MemoryUse*, std::string>> uses;
    for (const Estimate* each : answers) {
        if (!each->memory) continue;
        const MemoryUse& use = *each->memory;
        const auto same = std::find_if(uses.begin(), uses.end(), [&](const auto& known) {
            return known.first->weights == use.weights && known.first->kvCache == use.kvCache &&
                   known.first->activations == use.activations && known.first->capacity == use.capacity;
        });
        if (same == uses.end()) {
            uses.emplace_back(&use, methodTitle(each->method));
        } else {
            same->second += ", " + methodTitle(each->method);
        }
    }
    std::string out;
    for (const auto& [memory, methods] : uses) {
        const MemoryUse& use = *memory;
        const double capacity = use.capacity.value;
        const double whole = std::max(capacity, use.total().value);
        if (!(whole > 0)) continue;
        out += fmt::format(R"(<div class="row"><span>{}</span><div class="bar">)",
                           uses.size() == 1 ? std::string("all methods") : escaped(methods));
        const auto part = [&](std::string_view name, Bytes bytes, std::string_view colour) {
            if (!(bytes.value > 0)) return;
            out += fmt::format(R"(<span class="{}" style="width:{:.3f}%" title="{}: {}"></span>)", colour,
                               100 * bytes.value / whole, name, escaped(format(bytes)));
        };
        part("weights", use.weights, "k0");
        part("KV cache", use.kvCache, "k3");
        part("activations", use.activations, "k5");
        const bool over = capacity > 0 && use.total().value > capacity;
        out +=
            fmt::format(R"(</div><span class="n{}">{}</span></div>)", over ? " bad" : "", escaped(format(use.total())));
        const auto named = [&](std::string_view colour, std::string_view name, Bytes bytes) {
            return bytes.value > 0
                       ? fmt::format(R"(<span><i class="{}"></i>{} {}</span>)", colour, name, escaped(format(bytes)))
                       : std::string();
        };
        out += R"(<div class="legend">)" + named("k0", "weights", use.weights) + named("k3", "KV cache", use.kvCache) +
               named("k5", "activations", use.activations);
        if (capacity > 0) {
            out += fmt::format("<span>{} {}</span>", over ? "does not fit: the device has" : "of",
                               escaped(format(use.capacity)));
        }
        out += "</div>";
    }
    return out;
}

std::string operatorsHtml(const Scenario& scenario, const Estimate& estimate, std::size_t most) {
    const OperatorEstimates& columns = estimate.operators;
    std::vector<std::size_t> order(columns.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return columns.seconds[a] > columns.seconds[b]; });
    const double total = std::accumulate(columns.seconds.begin(), columns.seconds.end(), 0.0);
    std::string out =
        R"(<div class="scroll"><table><thead><tr><th>operator</th><th>kind</th><th class="n">repeats</th><th class="n">time</th>)"
        R"(<th class="n">share</th><th class="n">FLOPs</th><th class="n">bytes</th><th>bound by</th></tr></thead><tbody>)";
    double shown = 0;
    for (std::size_t i = 0; i < order.size() && i < most; ++i) {
        const std::size_t op = order[i];
        const auto label = operatorLabel(scenario, op);
        const double share = total > 0 ? columns.seconds[op] / total : 0;
        shown += share;
        out += fmt::format(
            R"(<tr><td class="name">{}<span class="sub">{}</span></td><td>{}</td><td class="n">{}</td><td class="n">{}</td><td class="n">{:.1f} %</td><td class="n">{}</td><td class="n">{}</td><td>{}</td></tr>)",
            escaped(label.name), escaped(label.block.empty() ? label.type : label.type + ", " + label.block),
            escaped(orrery::toText(label.kind)), label.repeat, escaped(format(Seconds(columns.seconds[op]))),
            100 * share,
            op < columns.flops.size() ? escaped(formatMeasure(columns.flops[op], Dimension::Operations)) : "–",
            op < columns.bytes.size() ? escaped(formatMeasure(columns.bytes[op], Dimension::Data)) : "–",
            escaped(boundText(estimate, op)));
    }
    out += "</tbody></table></div>";
    if (order.size() > most) {
        out += fmt::format(R"(<p class="note">The {} longest of {} operators, {:.1f} % of the time.</p>)", most,
                           order.size(), 100 * shown);
    }
    return out;
}

}  // namespace orrery::store
