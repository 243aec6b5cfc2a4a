#include "widgets/plots/breakdown_model.h"

#include "methods/answer/time_parts.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/plots/operator_facts.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <map>
#include <string_view>
#include <unordered_map>

namespace orrery::ui {
namespace {

constexpr std::size_t mostBlocks = 12;  // the rest is one category

QString tr(const char* text) {
    return QCoreApplication::translate("orrery::ui::BreakdownView", text);
}

std::string_view blockOf(const Operator& op) {
    if (!op.block.empty()) return op.block;
    std::string_view name = op.name;
    if (name.starts_with('/')) name.remove_prefix(1);
    const auto cut = name.find('/');
    return cut == std::string_view::npos || cut == 0 ? std::string_view() : name.substr(0, cut);
}

// Operators to categories. Numbers first and texts once per category: this runs on every edit, for thousands of
// operators and several methods.
class Sorter {
public:
    Sorter(const Snapshot& snapshot, BreakdownBy by) : snapshot_(snapshot), by_(by) {
        if (by != BreakdownBy::Block || !snapshot.scenario.workload) return;
        std::unordered_map<std::string_view, int> known;
        for (const Operator& op : snapshot.scenario.workload->graph.operators) {
            const std::string_view block = blockOf(op);
            const auto [at, fresh] = known.try_emplace(block, int(blocks_.size()));
            if (fresh) blocks_.push_back(block);
            blockOfOperator_.push_back(at->second);
        }
    }

    // Bounds sort by this: compute, the memory levels from the outermost, then the rest.
    int category(const Estimate& estimate, std::size_t op) const {
        if (by_ == BreakdownBy::Kind) return int(operatorKind(snapshot_, int(op)));
        if (by_ == BreakdownBy::Block) return op < blockOfOperator_.size() ? blockOfOperator_[op] : -1;
        const Bound bound = op < estimate.operators.bound.size() ? estimate.operators.bound[op] : Bound{};
        if (bound.kind == BoundKind::Compute) return 0;
        return bound.kind == BoundKind::Memory ? 10 + std::max<int>(bound.level, 0) : 1000 + int(bound.kind);
    }

    QString label(const Estimate& estimate, std::size_t op) const {
        if (by_ == BreakdownBy::Kind) return kindText(operatorKind(snapshot_, int(op)));
        if (by_ == BreakdownBy::Block) {
            const int block = category(estimate, op);
            const std::string_view name = block >= 0 ? blocks_[std::size_t(block)] : std::string_view();
            return name.empty() ? tr("outside blocks") : QString::fromUtf8(name.data(), qsizetype(name.size()));
        }
        const Bound bound = op < estimate.operators.bound.size() ? estimate.operators.bound[op] : Bound{};
        QString text = boundText(bound, estimate);
        if (bound.kind != BoundKind::Memory) text[0] = text[0].toUpper();  // a level is named as in its file
        return text;
    }

    QColor colour(const Estimate& estimate, std::size_t op) const {
        const Theme& theme = Theme::instance();
        if (by_ == BreakdownBy::Kind) return theme.operatorColour(operatorKind(snapshot_, int(op)));
        return theme.boundColour(op < estimate.operators.bound.size() ? estimate.operators.bound[op] : Bound{});
    }

private:
    const Snapshot& snapshot_;
    BreakdownBy by_;
    std::vector<std::string_view> blocks_;
    std::vector<int> blockOfOperator_;
};

QString figuresText(const Estimate& estimate) {
    QStringList parts;
    for (const Figure& figure : estimate.figures) {
        QString value = text(figure.value, figure.dimension);
        if (figure.dimension == Dimension::Number && !figure.unit.empty()) {
            // `1.2 k` and `token/s` read `1.2 ktoken/s`.
            value += (value.contains(QLatin1Char(' ')) ? QString() : QStringLiteral(" ")) +
                     QString::fromStdString(figure.unit);
        }
        parts << QStringLiteral("%1 %2").arg(QString::fromStdString(figure.label), value);
    }
    return parts.join(QStringLiteral(" · "));
}

void mergeTail(std::vector<BreakdownCategory>& categories) {
    if (categories.size() <= mostBlocks) return;
    BreakdownCategory& rest = categories[mostBlocks - 1];
    rest.label = tr("%1 more").arg(categories.size() - mostBlocks + 1);
    for (std::size_t i = mostBlocks; i < categories.size(); ++i) {
        rest.ops.insert(rest.ops.end(), categories[i].ops.begin(), categories[i].ops.end());
        for (std::size_t bar = 0; bar < rest.seconds.size(); ++bar) rest.seconds[bar] += categories[i].seconds[bar];
    }
    std::sort(rest.ops.begin(), rest.ops.end());
    categories.resize(mostBlocks);
}

// In the order in which the answer names them.
void addParts(BreakdownModel& model, const Estimate& estimate, std::size_t bar, std::size_t bars) {
    const Theme& theme = Theme::instance();
    constexpr std::array kinds{OperatorKind::MatMul, OperatorKind::Movement, OperatorKind::Elementwise,
                               OperatorKind::Attention};
    for (const Figure* part : partsOfTime(estimate)) {
        const QString label = QString::fromStdString(part->label);
        auto category = std::ranges::find(model.categories, label, &BreakdownCategory::label);
        if (category == model.categories.end()) {
            const QColor colour = theme.operatorColour(kinds[model.categories.size() % kinds.size()]);
            model.categories.push_back({label, colour, {}, std::vector<double>(bars)});
            category = std::prev(model.categories.end());
        }
        category->seconds[bar] += part->value;
    }
}

}  // namespace

bool dividesByPart(const Snapshot& snapshot) {
    return std::ranges::any_of(snapshot.answers, [](const Answer& answer) {
        return answer.estimate && !partsOfTime(*answer.estimate).empty();
    });
}

BreakdownModel breakdownModel(const Snapshot& snapshot, BreakdownBy by) {
    BreakdownModel model;
    std::map<int, BreakdownCategory> found;
    const Sorter sorter(snapshot, by);
    const std::size_t bars = snapshot.answers.size();
    for (std::size_t i = 0; i < bars; ++i) {
        const Answer& answer = snapshot.answers[i];
        BreakdownBar bar;
        bar.title = answer.title;
        bar.primary = int(i) == snapshot.primary;
        if (!answer.estimate) {
            bar.failed = answer.failed();
            bar.state = answer.failure ? windowText(answer.failure->message) : tr("running…");
            model.bars.push_back(bar);
            continue;
        }
        const Estimate& estimate = *answer.estimate;
        bar.total = estimate.latency.value;
        bar.low = estimate.interval.low.value;
        bar.high = estimate.interval.high.value;
        bar.figures = figuresText(estimate);
        bar.divided = estimate.operators.size() > 0;
        model.longest = std::max({model.longest, bar.total, std::min(bar.high, bar.total * 1.6)});
        if (by == BreakdownBy::Part) {
            addParts(model, estimate, i, bars);
            bar.divided = !partsOfTime(estimate).empty();
            model.bars.push_back(bar);
            continue;
        }
        for (std::size_t op = 0; op < estimate.operators.size(); ++op) {
            if (estimate.operators.seconds[op] <= 0) continue;
            BreakdownCategory& category = found[sorter.category(estimate, op)];
            if (category.seconds.empty()) {
                category.seconds.resize(bars);
                category.label = sorter.label(estimate, op);
                category.colour = sorter.colour(estimate, op);
            }
            category.seconds[i] += estimate.operators.seconds[op];
            if (bar.primary) category.ops.push_back(int(op));
        }
        model.bars.push_back(bar);
    }
    for (auto& [key, category] : found) model.categories.push_back(std::move(category));
    if (by == BreakdownBy::Block) {  // blocks that take the same time stand in the model's order
        const auto first = [](const BreakdownCategory& c) { return c.ops.empty() ? INT_MAX : c.ops.front(); };
        std::stable_sort(model.categories.begin(), model.categories.end(),
                         [&](const auto& a, const auto& b) { return first(a) < first(b); });
    }
    const std::size_t primary = std::min(std::size_t(std::max(snapshot.primary, 0)), bars > 0 ? bars - 1 : 0);
    if (by == BreakdownBy::Kind || by == BreakdownBy::Block) {
        std::stable_sort(model.categories.begin(), model.categories.end(), [&](const auto& a, const auto& b) {
            return std::round(a.seconds[primary] * 1e12) > std::round(b.seconds[primary] * 1e12);
        });
    }
    if (by == BreakdownBy::Block) {
        mergeTail(model.categories);
        const double last = std::max<double>(double(model.categories.size()) - 1, 1);
        for (std::size_t i = 0; i < model.categories.size(); ++i)
            model.categories[i].colour = Theme::instance().heat(0.12 + 0.8 * double(i) / last);
    }
    return model;
}

BreakdownModel between(const BreakdownModel& a, const BreakdownModel& b, double t) {
    if (t >= 1 || a.bars.size() != b.bars.size()) return b;
    const auto mix = [t](double x, double y) { return x + (y - x) * t; };
    BreakdownModel model = b;
    model.longest = mix(a.longest, b.longest);
    for (std::size_t i = 0; i < model.bars.size(); ++i) {
        if (a.bars[i].total > 0 && b.bars[i].total > 0) model.bars[i].total = mix(a.bars[i].total, b.bars[i].total);
    }
    for (BreakdownCategory& category : model.categories) {
        const auto from = std::find_if(a.categories.begin(), a.categories.end(),
                                       [&](const BreakdownCategory& other) { return other.label == category.label; });
        if (from == a.categories.end()) continue;
        for (std::size_t i = 0; i < category.seconds.size(); ++i)
            category.seconds[i] = mix(from->seconds[i], category.seconds[i]);
    }
    return model;
}

}  // namespace orrery::ui
