#include "widgets/comparison/comparison_model.h"

#include "evaluation/best_answer.h"
#include "methods/method.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/plots/operator_facts.h"

#include <cmath>
#include <limits>

namespace orrery::ui {
namespace {
const QString dash = QStringLiteral("–");

QString methodologyText(const QString& methodId) {
    const Method* method = findMethod(methodId.toStdString());
    if (!method) return QStringLiteral("–");
    switch (method->card.methodology) {
        case Methodology::Analytical:
            return ComparisonModel::tr("Analytical");
        case Methodology::CycleAccurate:
            return ComparisonModel::tr("Cycle-accurate");
        case Methodology::TraceDriven:
            return ComparisonModel::tr("Trace-driven");
        case Methodology::Learned:
            return ComparisonModel::tr("Learned");
        case Methodology::Hybrid:
            return ComparisonModel::tr("Hybrid");
    }
    return {};
}

}  // namespace

void ComparisonModel::set(SnapshotPtr snapshot, std::optional<ReferenceValue> reference) {
    const auto shape = [](const SnapshotPtr& of) {
        QStringList ids;
        if (of)
            for (const Answer& answer : of->answers) ids << answer.method;
        return ids;
    };
    const bool same = shape(snapshot_) == shape(snapshot);
    if (!same) beginResetModel();
    snapshot_ = std::move(snapshot);
    reference_ = std::move(reference);
    low_ = std::numeric_limits<double>::infinity();
    high_ = 0;
    if (snapshot_)
        for (const Answer& answer : snapshot_->answers) {
            if (!answer.estimate) continue;
            low_ = std::min(low_, answer.estimate->interval.low.value);
            high_ = std::max(high_, answer.estimate->interval.high.value);
        }
    if (!same)
        endResetModel();
    else if (rowCount() > 0)
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

double ComparisonModel::error(const Answer& answer) const {
    if (!reference_ || !answer.estimate || reference_->latency.value <= 0)
        return std::numeric_limits<double>::quiet_NaN();
    return answer.estimate->latency / reference_->latency - 1;
}

int ComparisonModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() || !snapshot_ ? 0 : static_cast<int>(snapshot_->answers.size());
}

int ComparisonModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QString ComparisonModel::text(const Answer& answer, int column) const {
    const bool best = snapshot_->best >= 0 && &answer == &snapshot_->answers[static_cast<std::size_t>(snapshot_->best)];
    if (column == MethodName) return best ? tr("%1 · best").arg(answer.title) : answer.title;
    if (column == Approach) return methodologyText(answer.method);
    if (!answer.estimate) {
        if (column != Prediction) return {};
        if (answer.notAsked()) return tr("asked by a Run (F5)");
        return answer.failure ? windowText(answer.failure->message) : tr("running …");
    }
    const Estimate& estimate = *answer.estimate;
    switch (column) {
        case Prediction:
            return (isLeastTime(estimate) ? QStringLiteral("≥ ") : QString()) + qs(format(estimate.latency));
        case Reference:
            return reference_ ? qs(format(reference_->latency)) : dash;
        case Error: {
            const double relative = error(answer);
            return std::isnan(relative) ? dash
                                        : (relative > 0 ? QStringLiteral("+") : QString()) +
                                              qs(formatMeasure(relative, Dimension::Fraction, 2));
        }
        case Energy:
            return estimate.energy ? qs(format(*estimate.energy)) : dash;
        case Memory:
            return estimate.memory ? qs(format(estimate.memory->total())) : dash;
        case Warnings:
            return estimate.warnings.empty() ? QString() : QString::number(estimate.warnings.size());
        case Cost:
            return qs(format(estimate.cost, 2));
        default:
            return {};
    }
}

QString ComparisonModel::tip(const Answer& answer, int column) const {
    if (answer.failure) return qs(toText(*answer.failure));
    if (!answer.estimate) return tr("Still running");
    const Estimate& estimate = *answer.estimate;
    switch (column) {
        case MethodName:
            return tr("%1 (%2)\n%3\nDouble-click to show its operators in all views")
                .arg(answer.title, answer.method, qs(supportText(estimate)));
        case Prediction:
            return fullText(estimate.latency.value, Dimension::Time);
        case IntervalBar:
            return tr("%1 to %2\n%3")
                .arg(qs(format(estimate.interval.low)), qs(format(estimate.interval.high)),
                     qs(estimate.interval.basis));
        case Reference:
            return reference_ ? tr("%1\n%2, %3")
                                    .arg(fullText(reference_->latency.value, Dimension::Time),
                                         reference_->measured ? tr("measured") : tr("simulated"), reference_->source)
                              : tr("No reference is known for this scenario");
        case Energy:
            return estimate.energy ? fullText(estimate.energy->value, Dimension::Energy)
                                   : tr("Not predicted by this method");
        case Memory:
            if (!estimate.memory) return tr("Not predicted by this method");
            return tr("Weights %1\nKV cache %2\nActivations %3\nof %4")
                .arg(qs(format(estimate.memory->weights)), qs(format(estimate.memory->kvCache)),
                     qs(format(estimate.memory->activations)), qs(format(estimate.memory->capacity)));
        case Warnings: {
            QStringList lines;
            for (const Diagnostic& warned : estimate.warnings) lines << windowText(warned.message);
            return lines.isEmpty() ? tr("No warnings") : lines.mid(0, 12).join(QLatin1Char('\n'));
        }
        case Cost:
            return tr("Wall time that this answer took: %1").arg(fullText(estimate.cost.value, Dimension::Time));
        default:
            return text(answer, column);
    }
}

QVariant ComparisonModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const auto row = static_cast<std::size_t>(index.row());
    const Answer& answer = snapshot_->answers[row];
    const bool number = index.column() == Prediction || (index.column() >= Reference && index.column() <= Cost);
    switch (role) {
        case Qt::DisplayRole:
            return text(answer, index.column());
        case Qt::ToolTipRole:
            return tip(answer, index.column());
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(
                Qt::Alignment(Qt::AlignVCenter | (number && !answer.failure ? Qt::AlignRight : Qt::AlignLeft)));
        case Qt::ForegroundRole:
            if (answer.failure && index.column() == Prediction) {
                const Palette& colours = Theme::instance().colours();
                return answer.failed() ? colours.bad : colours.mutedText;
            }
            if (!answer.estimate || index.column() == Approach) return Theme::instance().colours().mutedText;
            if (index.column() == Warnings) return Theme::instance().colours().warning;
            return {};
        case LowRole:
            return answer.estimate ? QVariant(answer.estimate->interval.low.value) : QVariant();
        case HighRole:
            return answer.estimate ? QVariant(answer.estimate->interval.high.value) : QVariant();
        case ValueRole:
            return answer.estimate ? QVariant(answer.estimate->latency.value) : QVariant();
        case ColourRole:
            return Theme::instance().methodColour(answer.colour);
        case FailureRole:
            return answer.failure.has_value();
        case PrimaryRole:
            return index.row() == snapshot_->primary;
        case AxisLowRole:
            return low_;
        case AxisHighRole:
            return high_;
        default:
            return {};
    }
}

QVariant ComparisonModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    const QString names[] = {tr("Method"), tr("Prediction"), tr("Interval"), tr("Reference"), tr("Error"),
                             tr("Energy"), tr("Memory"),     tr("Warnings"), tr("Cost"),      tr("Methodology")};
    const QString tips[] = {tr("The chosen methods; the dot marks the method whose operators the other views show"),
                            tr("Predicted latency"),
                            tr("90 % intervals, all on one axis"),
                            tr("Interval of the answer"),
                            tr("Prediction against reference"),
                            tr("Predicted energy"),
                            tr("Predicted memory in use"),
                            tr("Warnings of the method"),
                            tr("Wall time that the answer took"),
                            tr("How it predicts")};
    if (role == Qt::DisplayRole) return names[section];
    if (role == Qt::ToolTipRole) return tips[section];
    if (role == Qt::TextAlignmentRole) {
        const bool number = section == Prediction || (section >= Reference && section <= Cost);
        return QVariant::fromValue(Qt::Alignment(Qt::AlignVCenter | (number ? Qt::AlignRight : Qt::AlignLeft)));
    }
    return {};
}

QString ComparisonModel::csv() const {
    if (!snapshot_) return {};
    QString out = QStringLiteral(
        "method,latency_s,latency_low_s,latency_high_s,reference_s,relative_error,energy_j,memory_bytes,warnings,cost_"
        "s,failure\n");
    const auto number = [](double value) { return std::isnan(value) ? QString() : QString::number(value, 'g', 17); };
    for (const Answer& answer : snapshot_->answers) {
        QStringList cells{answer.method};
        if (const Estimate* e = answer.estimate.get()) {
            cells << number(e->latency.value) << number(e->interval.low.value) << number(e->interval.high.value)
                  << (reference_ ? number(reference_->latency.value) : QString()) << number(error(answer))
                  << (e->energy ? number(e->energy->value) : QString())
                  << (e->memory ? number(e->memory->total().value) : QString()) << QString::number(e->warnings.size())
                  << number(e->cost.value) << QString();
        } else {
            for (int i = 0; i < 9; ++i) cells << QString();
            cells << csvField(answer.failure ? windowText(answer.failure->message) : QString());
        }
        out += cells.join(QLatin1Char(',')) + QLatin1Char('\n');
    }
    return out;
}

}  // namespace orrery::ui
