#include "widgets/panels/operator_text.h"

#include "methods/method.h"
#include "widgets/common/text.h"

#include <QCoreApplication>

namespace orrery::ui {
namespace {
QString tr(const char* text) {
    return QCoreApplication::translate("orrery::ui", text);
}
}  // namespace

QString operatorKindText(OperatorKind kind) {
    switch (kind) {
        case OperatorKind::MatMul:
            return tr("Matrix product");
        case OperatorKind::Conv:
            return tr("Convolution");
        case OperatorKind::ConvTranspose:
            return tr("Transposed conv.");
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
            return tr("Movement");
        case OperatorKind::View:
            return tr("View");
        case OperatorKind::Routing:
            return tr("Routing");
        case OperatorKind::Other:
            return tr("Other");
    }
    return {};
}

QString operatorBoundText(const Bound& bound, const Estimate& estimate) {
    switch (bound.kind) {
        case BoundKind::Compute:
            return tr("compute");
        case BoundKind::Memory: {
            const auto level = static_cast<std::size_t>(bound.level);
            return bound.level >= 0 && level < estimate.levels.size() ? qs(estimate.levels[level]) : tr("memory");
        }
        case BoundKind::Overhead:
            return tr("overhead");
        case BoundKind::Network:
            return tr("network");
        case BoundKind::None:
            break;
    }
    return QStringLiteral("–");
}

QString methodologyText(const QString& methodId) {
    const Method* method = findMethod(methodId.toStdString());
    if (!method) return QStringLiteral("–");
    switch (method->card.methodology) {
        case Methodology::Analytical:
            return tr("Analytical");
        case Methodology::CycleAccurate:
            return tr("Cycle-accurate");
        case Methodology::TraceDriven:
            return tr("Trace-driven");
        case Methodology::Learned:
            return tr("Learned");
        case Methodology::Hybrid:
            return tr("Hybrid");
    }
    return {};
}

}  // namespace orrery::ui
