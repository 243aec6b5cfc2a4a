#pragma once

#include "base/diagnostic.h"

#include <QAbstractListModel>
#include <QWidget>

class QListView;
class QToolButton;

namespace orrery::ui {

class ProblemsModel : public QAbstractListModel {
    Q_OBJECT
public:
    enum Role { MessageRole = Qt::UserRole, PlaceRole, HintRole, SeverityRole };
    using QAbstractListModel::QAbstractListModel;
    void setDiagnostics(Diagnostics diagnostics);
    void setShown(Severity severity, bool shown);
    bool isShown(Severity severity) const { return shown_[static_cast<std::size_t>(severity)]; }
    int count(Severity severity) const;
    const Diagnostic& at(int row) const { return all_[static_cast<std::size_t>(rows_[static_cast<std::size_t>(row)])]; }

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

private:
    void refilter();

    Diagnostics all_;
    std::vector<int> rows_;
    bool shown_[3] = {true, true, true};
};

/// What is wrong and what to do about it. A click or Enter jumps to the place; Ctrl+C copies.
class ProblemsPanel : public QWidget {
    Q_OBJECT
public:
    explicit ProblemsPanel(QWidget* parent = nullptr);
    void setDiagnostics(const Diagnostics& diagnostics);
    QListView* list() const { return list_; }
    ProblemsModel* model() const { return model_; }
    QString selectedText() const;

signals:
    void jumpTo(const orrery::Place& place);
    void countsChanged(int errors, int warnings);  ///< for the dock's title

private:
    void refresh();

    ProblemsModel* model_;
    QListView* list_;
    QToolButton* filters_[3];
    QWidget* empty_;
};

}  // namespace orrery::ui
