#pragma once

#include <QAbstractListModel>
#include <QPointer>
#include <QStringList>
#include <QUndoStack>
#include <QWidget>

class QListView;

namespace orrery::ui {

class IconButton;

/// The states of an undo stack: as opened, then after each edit. A merged edit changes its row in place.
class HistoryModel : public QAbstractListModel {
    Q_OBJECT
public:
    enum Role { CurrentRole = Qt::UserRole, SavedRole, UndoneRole };
    explicit HistoryModel(QUndoStack* stack, QObject* parent = nullptr);
    int current() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

private:
    void follow();

    QPointer<QUndoStack> stack_;
    QStringList words_;
};

/// Every edit by its name, the present state marked, what is undone muted, what is on disk with a disk. A click, Enter
/// or the buttons go back and forth.
class HistoryPanel : public QWidget {
    Q_OBJECT
public:
    explicit HistoryPanel(QUndoStack* stack, QWidget* parent = nullptr);
    QListView* list() const { return list_; }
    HistoryModel* model() const { return model_; }

private:
    void goTo(const QModelIndex& index);
    void follow();

    QPointer<QUndoStack> stack_;
    HistoryModel* model_;
    QListView* list_;
    IconButton* undo_;
    IconButton* redo_;
};

}  // namespace orrery::ui
