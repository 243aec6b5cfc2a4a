#include "widgets/plots/operator_facts.h"

#include "widgets/common/text.h"
#include "widgets/common/units_text.h"

#include <QCoreApplication>

#include <numeric>

namespace orrery::ui {
namespace {

const Operator* graphOperator(const Snapshot& snapshot, int op) {
    if (!snapshot.scenario.workload || op < 0) return nullptr;
    const auto& operators = snapshot.scenario.workload->graph.operators;
    return static_cast<std::size_t>(op) < operators.size() ? &operators[static_cast<std::size_t>(op)] : nullptr;
}

QString tr(const char* text) {
    return QCoreApplication::translate("orrery::ui::plots", text);
}

}  // namespace

QString operatorName(const Snapshot& snapshot, int op) {
    const Operator* found = graphOperator(snapshot, op);
    return found && !found->name.empty() ? QString::fromStdString(found->name) : tr("operator #%1").arg(op);
}

QString shortName(const QString& name) {
    const auto cut = std::max(name.lastIndexOf(QLatin1Char('/')), name.lastIndexOf(QLatin1Char('.')));
    return cut >= 0 && cut + 1 < name.size() ? name.mid(cut + 1) : name;
}

OperatorKind operatorKind(const Snapshot& snapshot, int op) {
    const Operator* found = graphOperator(snapshot, op);
    return found ? found->kind : OperatorKind::Other;
}

QString kindText(OperatorKind kind) {
    switch (kind) {
        case OperatorKind::MatMul:
            return tr("Matrix product");
        case OperatorKind::Conv:
            return tr("Convolution");
        case OperatorKind::ConvTranspose:
            return tr("Transposed convolution");
        case OperatorKind::Attention:
            return tr("Attention");
        case OperatorKind::Elementwise:
            return tr("Element-wise");
        case OperatorKind::Normalization:
            return tr("Normalisation");
        case OperatorKind::Softmax:
            return tr("Softmax");
        case OperatorKind::Reduce:
            return tr("Reduction");
        case OperatorKind::Pool:
            return tr("Pooling");
        case OperatorKind::Gather:
            return tr("Gather");
        case OperatorKind::Scan:
            return tr("Scan");
        case OperatorKind::Movement:
            return tr("Data movement");
        case OperatorKind::View:
            return tr("View");
        case OperatorKind::Routing:
            return tr("Routing");
        case OperatorKind::Other:
            break;
    }
    return tr("Other");
}

QString boundText(Bound bound, const Estimate& estimate) {
    switch (bound.kind) {
        case BoundKind::Compute:
            return tr("compute");
        case BoundKind::Memory: {
            const auto level = static_cast<std::size_t>(std::max<int>(bound.level, 0));
            if (level >= estimate.levels.size()) return tr("memory");
            return tr("%1 bandwidth").arg(QString::fromStdString(estimate.levels[level]));
        }
        case BoundKind::Overhead:
            return tr("launch overhead");
        case BoundKind::Network:
            return tr("network");
        case BoundKind::None:
            break;
    }
    return tr("nothing");
}

EmptyState withoutEstimate(const SnapshotPtr& snapshot, const EmptyState& otherwise) {
    if (!snapshot || snapshot->primary < 0 || std::size_t(snapshot->primary) >= snapshot->answers.size())
        return otherwise;
    const Answer& answer = snapshot->answers[std::size_t(snapshot->primary)];
    if (answer.estimate) return otherwise;
    if (!answer.failure)
        return {tr("%1 is running").arg(answer.title), tr("The answer appears here when it is ready."), {}};
    QString sentence = windowText(answer.failure->message);
    if (!sentence.isEmpty()) sentence[0] = sentence[0].toUpper();
    if (!answer.failure->hint.empty())
        sentence += QStringLiteral(". ") + tr("Hint: %1").arg(windowText(answer.failure->hint));
    // Where the drawing lacks a number, the way to it stands beside the reason.
    const bool lacking = answer.failure->code == "hardware.missing-attribute";
    return {tr("%1 cannot answer").arg(answer.title), sentence, lacking ? tr("Choose methods") : QString()};
}

double totalSeconds(const Estimate& estimate) {
    return std::accumulate(estimate.operators.seconds.begin(), estimate.operators.seconds.end(), 0.0);
}

std::vector<std::pair<QString, QString>> operatorCard(const Snapshot& snapshot, const Estimate& estimate, int op) {
    const OperatorEstimates& columns = estimate.operators;
    const auto at = static_cast<std::size_t>(op);
    if (op < 0 || at >= columns.size()) return {};
    std::vector<std::pair<QString, QString>> lines;
    const Operator* found = graphOperator(snapshot, op);
    const double seconds = columns.seconds[at];
    const double total = totalSeconds(estimate);
    if (found) {
        const QString type = QString::fromStdString(found->type);
        lines.emplace_back(tr("Kind"), type.isEmpty() ? kindText(found->kind)
                                                      : QStringLiteral("%1 · %2").arg(kindText(found->kind), type));
    }
    lines.emplace_back(tr("Time"), QStringLiteral("%1 · %2").arg(text(Seconds(seconds)),
                                                                 percentText(total > 0 ? seconds / total : 0)));
    if (at < columns.bound.size()) lines.emplace_back(tr("Bound by"), boundText(columns.bound[at], estimate));
    const double flops = at < columns.flops.size() ? columns.flops[at] : 0;
    const double bytes = at < columns.bytes.size() ? columns.bytes[at] : 0;
    if (flops > 0 && seconds > 0) lines.emplace_back(tr("Attained"), text(Flops(flops) / Seconds(seconds)));
    if (flops > 0 && bytes > 0) lines.emplace_back(tr("Intensity"), text(Flops(flops) / Bytes(bytes)));
    if (flops > 0) lines.emplace_back(tr("Work"), text(Flops(flops)));
    if (bytes > 0) lines.emplace_back(tr("Traffic"), text(Bytes(bytes)));
    if (found && found->repeat > 1)
        lines.emplace_back(tr("Repeats"), QStringLiteral("× %1").arg(countText(double(found->repeat))));
    return lines;
}

QString csvField(const QString& text) {
    if (!text.contains(QLatin1Char(',')) && !text.contains(QLatin1Char('"')) && !text.contains(QLatin1Char('\n')))
        return text;
    QString quoted = text;
    quoted.replace(QLatin1Char('"'), QLatin1String("\"\""));
    return QLatin1Char('"') + quoted + QLatin1Char('"');
}

}  // namespace orrery::ui
