#pragma once

#include "hardware/check/fixes.h"

#include <QAbstractListModel>

#include <functional>
#include <map>

namespace orrery::ui {

/// All that is wrong, the worst first, with the ways out where there is an obvious one.
class ProblemsModel : public QAbstractListModel {
    Q_OBJECT
public:
    enum Role { MessageRole = Qt::UserRole, PlaceRole, HintRole, SeverityRole, FixCountRole };
    using QAbstractListModel::QAbstractListModel;
    void setDiagnostics(Diagnostics diagnostics);
    using FixProvider = std::function<std::vector<Fix>(const Diagnostic&)>;
    void setFixProvider(FixProvider provider);  ///< null: no problem has fixes
    /// Ways out of a row's problem, looked up when they are first asked for.
    const std::vector<Fix>& fixes(int row) const;
    void setShown(Severity severity, bool shown);
    bool isShown(Severity severity) const { return shown_[static_cast<std::size_t>(severity)]; }
    int count(Severity severity) const;
    const Diagnostic& at(int row) const { return all_[static_cast<std::size_t>(rows_[static_cast<std::size_t>(row)])]; }

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

private:
    void refilter();

    Diagnostics all_;
    FixProvider provider_;
    mutable std::map<int, std::vector<Fix>> fixes_;  ///< by index into all_
    std::vector<int> rows_;
    bool shown_[3] = {true, true, true};
};

}  // namespace orrery::ui
