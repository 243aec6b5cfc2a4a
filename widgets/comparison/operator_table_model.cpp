#include "widgets/comparison/operator_table_model.h"

#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/plots/operator_facts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace orrery::ui {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

Dimension dimensionOf(int column) {
    switch (column) {
        case OperatorTableModel::Time:
            return Dimension::Time;
        case OperatorTableModel::Share:
            return Dimension::Fraction;
        case OperatorTableModel::Work:
            return Dimension::Operations;
        case OperatorTableModel::Data:
            return Dimension::Data;
        case OperatorTableModel::Intensity:
            return Dimension::Intensity;
        case OperatorTableModel::Attained:
            return Dimension::OperationRate;
        default:
            return Dimension::Count;
    }
}

bool isNumeric(int column) {
    using M = OperatorTableModel;
    return column == M::Number || (column >= M::Repeat && column <= M::Attained);
}

}  // namespace

const Workload* OperatorTableModel::workload() const {
    return snapshot_ ? snapshot_->scenario.workload.get() : nullptr;
}

int OperatorTableModel::total() const {
    return workload() ? static_cast<int>(workload()->graph.operators.size()) : 0;
}

void OperatorTableModel::setSnapshot(SnapshotPtr snapshot) {
    // A graph is immutable, and the old one is alive until we let go of it: the same address is the same graph.
    const SnapshotPtr before = snapshot_;
    const bool same = before && snapshot && before->scenario.workload == snapshot->scenario.workload;
    if (!same) beginResetModel();
    snapshot_ = std::move(snapshot);
    all_ = largest_ = 0;
    if (const Estimate* estimate = snapshot_ ? snapshot_->primaryEstimate() : nullptr) {
        const auto& seconds = estimate->operators.seconds;
        all_ = std::accumulate(seconds.begin(), seconds.end(), 0.0);
        if (all_ > 0 && !seconds.empty()) largest_ = *std::max_element(seconds.begin(), seconds.end()) / all_;
    }
    if (!same) {
        refilter();
        reorder();
        endResetModel();
        return;
    }
    if (sorted_ >= Time) sort(sorted_, direction_);
    if (!order_.empty()) emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

void OperatorTableModel::setFilter(const QString& words) {
    if (words == filter_) return;
    beginResetModel();
    filter_ = words;
    refilter();
    reorder();
    endResetModel();
}

void OperatorTableModel::refilter() {
    order_.clear();
    const Workload* shown = workload();
    if (!shown) return rows_.clear();
    const QStringList words = filter_.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    const auto& operators = shown->graph.operators;
    for (std::size_t op = 0; op < operators.size(); ++op) {
        const bool fits = words.isEmpty() || [&] {
            const QString hay = qs(operators[op].name) + QLatin1Char('\n') + qs(operators[op].type) +
                                QLatin1Char('\n') + kindText(operators[op].kind);
            return std::all_of(words.begin(), words.end(),
                               [&](const QString& word) { return hay.contains(word, Qt::CaseInsensitive); });
        }();
        if (fits) order_.push_back(static_cast<int>(op));
    }
}

void OperatorTableModel::reorder() {
    const bool descending = direction_ == Qt::DescendingOrder;
    if (isNumeric(sorted_)) {
        std::vector<double> keys(static_cast<std::size_t>(total()), nothing);
        for (const int op : order_) keys[static_cast<std::size_t>(op)] = number(op, sorted_);
        std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
            const double x = keys[static_cast<std::size_t>(a)], y = keys[static_cast<std::size_t>(b)];
            if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);  // nothing goes last
            if (x == y) return a < b;
            return descending ? x > y : x < y;
        });
    } else {
        std::vector<QString> keys(static_cast<std::size_t>(total()));
        for (const int op : order_) keys[static_cast<std::size_t>(op)] = text(op, sorted_);
        std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
            const int order =
                keys[static_cast<std::size_t>(a)].compare(keys[static_cast<std::size_t>(b)], Qt::CaseInsensitive);
            if (order == 0) return a < b;
            return descending ? order > 0 : order < 0;
        });
    }
    rows_.assign(static_cast<std::size_t>(total()), -1);
    for (std::size_t row = 0; row < order_.size(); ++row)
        rows_[static_cast<std::size_t>(order_[row])] = static_cast<int>(row);
}

void OperatorTableModel::sort(int column, Qt::SortOrder order) {
    if (column < 0 || column >= ColumnCount) return;
    emit layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
    const QModelIndexList kept = persistentIndexList();
    std::vector<int> operators;
    for (const QModelIndex& at : kept) operators.push_back(operatorAt(at.row()));
    sorted_ = column;
    direction_ = order;
    reorder();
    QModelIndexList moved;
    for (qsizetype i = 0; i < kept.size(); ++i)
        moved << index(rowOf(operators[static_cast<std::size_t>(i)]), kept[i].column());
    changePersistentIndexList(kept, moved);
    emit layoutChanged({}, QAbstractItemModel::VerticalSortHint);
}

int OperatorTableModel::rowOf(int op) const {
    return op >= 0 && static_cast<std::size_t>(op) < rows_.size() ? rows_[static_cast<std::size_t>(op)] : -1;
}

double OperatorTableModel::number(int op, int column) const {
    const Workload& shown = *workload();
    const auto row = static_cast<std::size_t>(op);
    const Estimate* estimate = snapshot_->primaryEstimate();
    const bool answered = estimate && row < estimate->operators.size();
    const double seconds = answered ? estimate->operators.seconds[row] : nothing;
    const bool costed = row < shown.costs.size();
    const double repeat = static_cast<double>(shown.graph.operators[row].repeat);
    const double flops = answered && row < estimate->operators.flops.size() ? estimate->operators.flops[row]
                         : costed                                           ? shown.costs.flops[row] * repeat
                                                                            : nothing;
    const double bytes = answered && row < estimate->operators.bytes.size() ? estimate->operators.bytes[row]
                         : costed                                           ? shown.costs.bytes(row) * repeat
                                                                            : nothing;
    switch (column) {
        case Number:
            return op + 1;
        case Repeat:
            return repeat;
        case Time:
            return seconds;
        case Share:
            return all_ > 0 ? seconds / all_ : nothing;
        case Work:
            return flops;
        case Data:
            return bytes;
        case Intensity:
            return bytes > 0 ? flops / bytes : nothing;
        case Attained:
            return seconds > 0 ? flops / seconds : nothing;
        default:
            return nothing;
    }
}

QString OperatorTableModel::text(int op, int column) const {
    const Operator& shown = workload()->graph.operators[static_cast<std::size_t>(op)];
    switch (column) {
        case Name:
            return qs(shown.name);
        case Type:
            return qs(shown.type);
        case Kind:
            return kindText(shown.kind);
        case BoundBy: {
            const Estimate* estimate = snapshot_->primaryEstimate();
            const auto row = static_cast<std::size_t>(op);
            return estimate && row < estimate->operators.bound.size()
                       ? boundText(estimate->operators.bound[row], *estimate)
                       : QStringLiteral("–");
        }
        case Number:
            return QString::number(op + 1);
        case Repeat:
            return shown.repeat > 1 ? QStringLiteral("×") + countText(static_cast<double>(shown.repeat)) : QString();
        default: {
            const double value = number(op, column);
            if (std::isnan(value)) return QStringLiteral("–");
            // Shares and intensities are read down the column: the same unit in every row.
            if (column == Share && value > 0 && value < 0.001) return QStringLiteral("< 0.1 %");
            if (column == Intensity && value < 1000) return QString::number(value, 'g', 3) + QStringLiteral(" FLOP/B");
            return qs(formatMeasure(value, dimensionOf(column), 3));
        }
    }
}

QString OperatorTableModel::tip(int op, int column) const {
    if (!isNumeric(column) || column == Number) return text(op, column);
    const double value = number(op, column);
    if (std::isnan(value)) return tr("Not predicted");
    return fullText(value, dimensionOf(column));
}

int OperatorTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(order_.size());
}

int OperatorTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant OperatorTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const int op = operatorAt(index.row());
    switch (role) {
        case Qt::DisplayRole:
            return text(op, index.column());
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(
                Qt::Alignment(Qt::AlignVCenter | (isNumeric(index.column()) ? Qt::AlignRight : Qt::AlignLeft)));
        case Qt::ToolTipRole:
            return tip(op, index.column());
        case ShareRole: {
            const double share = number(op, Share);
            return largest_ > 0 && !std::isnan(share) ? share / largest_ : 0.0;
        }
        case ColourRole:
            return Theme::instance().operatorColour(workload()->graph.operators[static_cast<std::size_t>(op)].kind);
        case OperatorRole:
            return op;
        default:
            return {};
    }
}

QVariant OperatorTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    static const char* const names[] = {QT_TR_NOOP("#"),         QT_TR_NOOP("Name"),     QT_TR_NOOP("Type"),
                                        QT_TR_NOOP("Kind"),      QT_TR_NOOP("Repeat"),   QT_TR_NOOP("Time"),
                                        QT_TR_NOOP("Share"),     QT_TR_NOOP("Work"),     QT_TR_NOOP("Bytes"),
                                        QT_TR_NOOP("Intensity"), QT_TR_NOOP("Attained"), QT_TR_NOOP("Bound by")};
    static const char* const tips[] = {QT_TR_NOOP("Position in the graph"),
                                       QT_TR_NOOP("Name in the graph"),
                                       QT_TR_NOOP("The source’s own word"),
                                       QT_TR_NOOP("Family of the operator; it decides the model and the colour"),
                                       QT_TR_NOOP("Executions of a repeated block"),
                                       QT_TR_NOOP("Of all repetitions together, by the primary method"),
                                       QT_TR_NOOP("Of all operators’ time; the bar is relative to the largest"),
                                       QT_TR_NOOP("Floating-point operations, all repetitions"),
                                       QT_TR_NOOP("Bytes past the outermost memory level, all repetitions"),
                                       QT_TR_NOOP("Work per byte"),
                                       QT_TR_NOOP("Work per time"),
                                       QT_TR_NOOP("What limits it")};
    if (role == Qt::DisplayRole) return tr(names[section]);
    if (role == Qt::ToolTipRole) return tr(tips[section]) + tr(" (click sorts)");
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(
            Qt::Alignment(Qt::AlignVCenter | (isNumeric(section) ? Qt::AlignRight : Qt::AlignLeft)));
    return {};
}

QString OperatorTableModel::csv() const {
    if (!workload()) return {};
    QString out = QStringLiteral(
        "number,name,type,kind,repeat,time_s,share,flops,bytes,intensity_flop_per_byte,attained_flop_per_s,bound_by\n");
    for (const int op : order_) {
        QStringList cells;
        for (int column = 0; column < ColumnCount; ++column) {
            if (!isNumeric(column)) {
                cells << csvField(text(op, column));
                continue;
            }
            const double value = number(op, column);
            cells << (std::isnan(value) ? QString() : QString::number(value, 'g', 17));
        }
        out += cells.join(QLatin1Char(',')) + QLatin1Char('\n');
    }
    return out;
}

}  // namespace orrery::ui
