#include "widgets/messages/problems_model.h"

#include "widgets/common/text.h"

#include <algorithm>

namespace orrery::ui {

void ProblemsModel::setDiagnostics(Diagnostics diagnostics) {
    if (diagnostics == all_) return;
    beginResetModel();
    all_ = std::move(diagnostics);
    fixes_.clear();
    refilter();
    endResetModel();
}

void ProblemsModel::setFixProvider(FixProvider provider) {
    provider_ = std::move(provider);
    fixes_.clear();
    if (!rows_.empty()) emit dataChanged(index(0), index(rowCount() - 1), {FixCountRole, Qt::ToolTipRole});
}

const std::vector<Fix>& ProblemsModel::fixes(int row) const {
    const int problem = rows_[static_cast<std::size_t>(row)];
    const auto known = fixes_.find(problem);
    if (known != fixes_.end()) return known->second;
    return fixes_[problem] = provider_ ? provider_(all_[static_cast<std::size_t>(problem)]) : std::vector<Fix>();
}

void ProblemsModel::setShown(Severity severity, bool shown) {
    beginResetModel();
    shown_[static_cast<std::size_t>(severity)] = shown;
    refilter();
    endResetModel();
}

void ProblemsModel::refilter() {
    rows_.clear();
    for (std::size_t i = 0; i < all_.size(); ++i)
        if (isShown(all_[i].severity)) rows_.push_back(static_cast<int>(i));
    std::stable_sort(rows_.begin(), rows_.end(), [this](int a, int b) {
        return all_[static_cast<std::size_t>(a)].severity > all_[static_cast<std::size_t>(b)].severity;
    });
}

int ProblemsModel::count(Severity severity) const {
    return static_cast<int>(
        std::count_if(all_.begin(), all_.end(), [severity](const Diagnostic& d) { return d.severity == severity; }));
}

int ProblemsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

QVariant ProblemsModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const Diagnostic& problem = at(index.row());
    switch (role) {
        case Qt::DisplayRole:
        case MessageRole:
            return windowText(problem.message);
        case Qt::ToolTipRole:
        case Qt::AccessibleTextRole: {
            const QString text = windowText(toText(problem));
            return fixes(index.row()).empty() ? text : text + QLatin1Char('\n') + tr("Alt+Enter offers a quick fix");
        }
        case FixCountRole:
            return static_cast<int>(fixes(index.row()).size());
        case PlaceRole:
            return qs(toText(problem.place));
        case HintRole: {
            QStringList parts;
            if (!problem.expected.empty()) parts << tr("Expected %1").arg(windowText(problem.expected));
            if (!problem.hint.empty()) parts << windowText(problem.hint);
            return parts.join(QStringLiteral(" – "));
        }
        case SeverityRole:
            return static_cast<int>(problem.severity);
        default:
            return {};
    }
}

}  // namespace orrery::ui
