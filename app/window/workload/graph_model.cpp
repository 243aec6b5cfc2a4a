#include "app/window/workload/graph_model.h"

#include "widgets/common/theme.h"

namespace orrery::app {

namespace {

QString measured(double value, Dimension dimension) {
    return value == 0 ? QStringLiteral("–") : QString::fromStdString(formatMeasure(value, dimension));
}

}  // namespace

void GraphModel::setWorkload(WorkloadPtr workload) {
    beginResetModel();
    workload_ = std::move(workload);
    endResetModel();
}

int GraphModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() || !workload_ ? 0 : static_cast<int>(workload_->graph.operators.size());
}

int GraphModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

double GraphModel::number(std::size_t row, int column) const {
    const CostTable& costs = workload_->costs;
    switch (column) {
        case Repeat:
            return costs.repeat[row];
        case Macs:
            return costs.macs[row] * costs.repeat[row];
        case Weights:
            return costs.weightBytes[row] * costs.repeat[row];
        case Activations:
            return (costs.inputBytes[row] + costs.outputBytes[row]) * costs.repeat[row];
        default:
            return 0;
    }
}

QString GraphModel::text(std::size_t row, int column) const {
    const Operator& op = workload_->graph.operators[row];
    switch (column) {
        case Name:
            return QString::fromStdString(op.name);
        case Type:
            return QString::fromStdString(op.type);
        case Output: {
            const Tensor* tensor = op.outputs.empty() ? nullptr : workload_->graph.tensor(op.outputs.front());
            return tensor ? QString::fromStdString(orrery::toText(tensor->shape)) : QString();
        }
        case Repeat:
            return op.repeat == 1 ? QString() : QStringLiteral("×%1").arg(op.repeat);
        case Macs:
            return measured(number(row, column), Dimension::Number);
        case Weights:
        case Activations:
            return measured(number(row, column), Dimension::Data);
        default:
            return {};
    }
}

QVariant GraphModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || !workload_) return {};
    const auto row = static_cast<std::size_t>(index.row());
    const Operator& op = workload_->graph.operators[row];
    const bool isText = index.column() <= Output;
    switch (role) {
        case Qt::DisplayRole:
            return text(row, index.column());
        case SortRole:
            return isText ? QVariant(text(row, index.column())) : QVariant(number(row, index.column()));
        case Qt::TextAlignmentRole:
            return QVariant::fromValue((isText ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
        case Qt::FontRole:
            return index.column() == Output ? QVariant(ui::Theme::instance().font(ui::FontRole::Mono)) : QVariant();
        case Qt::DecorationRole:
            return index.column() == Type ? QVariant(ui::Theme::instance().operatorColour(op.kind)) : QVariant();
        case Qt::ToolTipRole: {
            if (!isText) return QString::number(number(row, index.column()), 'g', 17);
            QString tip =
                QStringLiteral("%1\n%2").arg(QString::fromStdString(op.name), QString::fromStdString(op.type));
            if (!op.block.empty()) tip += QLatin1Char('\n') + QString::fromStdString(op.block);
            return tip;
        }
        default:
            return {};
    }
}

QVariant GraphModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole && section > Output) {
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    }
    if (role == Qt::ToolTipRole) {
        switch (section) {
            case Repeat:
                return tr("Number of executions; equal blocks are stored once");
            case Macs:
                return tr("Multiply-accumulates of matrix units, all repetitions");
            case Weights:
                return tr("Parameters read, all repetitions");
            case Activations:
                return tr("Activations read and written, all repetitions");
            default:
                return {};
        }
    }
    if (role != Qt::DisplayRole) return {};
    switch (section) {
        case Name:
            return tr("Operator");
        case Type:
            return tr("Type");
        case Output:
            return tr("Output");
        case Repeat:
            return tr("Repeat");
        case Macs:
            return tr("MACs");
        case Weights:
            return tr("Weights");
        case Activations:
            return tr("Activations");
        default:
            return {};
    }
}

}  // namespace orrery::app
